<?php
// symfony/cache with tags and symfony/lock: what they delete and free they
// delete and free by scripts.
require 'Symfony/Component/Cache/autoload.php';
require 'Symfony/Component/Lock/autoload.php';

use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Cache\Adapter\RedisTagAwareAdapter;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

function want(bool $holds, string $what): void
{
    if (!$holds) {
        fwrite(STDERR, "$what\n");
        exit(1);
    }
}

function tags(string $name, $cache): void
{
    foreach (['one' => ['odd', 'small'], 'two' => ['even', 'small'], 'three' => ['odd'], 'many' => []] as $key => $with) {
        $cache->get($key, function ($item) use ($key, $with) {
            $item->expiresAfter(600)->tag($with);
            return "value of $key";
        });
    }
    want($cache->getItem('one')->get() === 'value of one', "$name: an item is kept");
    want($cache->invalidateTags(['odd']), "$name: a tag is invalidated");
    foreach (['one' => false, 'two' => true, 'three' => false, 'many' => true] as $key => $hit) {
        want($cache->hasItem($key) === $hit, "$name: $key after its tag was invalidated");
    }
    want($cache->get('one', fn () => 'new') === 'new', "$name: an invalidated item is computed anew");
    want($cache->deleteItems(['two', 'many']) && !$cache->hasItem('two'), "$name: items are deleted");
    for ($n = 0; $n < 300; ++$n) {
        $item = $cache->getItem("bulk$n")->set($n);
        $cache->saveDeferred($item->tag(['bulk']));
    }
    want($cache->commit(), "$name: many are saved at once");
    want($cache->hasItem('bulk299') && $cache->invalidateTags(['bulk', 'small']), "$name: many are invalidated");
    want(!$cache->hasItem('bulk0') && !$cache->hasItem('bulk299'), "$name: none of them is left");
    want($cache->clear() && !$cache->hasItem('one'), "$name: all is cleared");
}

function locks(Redis $redis): void
{
    $factory = new LockFactory(new RedisStore($redis));
    $lock = $factory->createLock('export', 30, false);
    want($lock->acquire(), 'a free lock is had');
    want(!$factory->createLock('export', 30, false)->acquire(), 'a lock that is held is not');
    $lock->refresh(60);
    want($lock->getRemainingLifetime() > 30, 'a lock is extended');
    $lock->release();
    want($factory->createLock('export', 30)->acquire(), 'a lock that was freed is had again');
    $first = $factory->createLock('shared', 30, false);
    $second = $factory->createLock('shared', 30, false);
    want($first->acquireRead() && $second->acquireRead(), 'two read');
    want(!$factory->createLock('shared', 30, false)->acquire(), 'nobody writes while they read');
    $first->release();
    $second->release();
    want($factory->createLock('shared', 30, false)->acquire(), 'one writes when they are done');
}

[$host, $port] = explode(':', getenv('SERVER'));
$redis = new Redis();
$redis->connect($host, (int) $port);
tags('RedisTagAwareAdapter', new RedisTagAwareAdapter($redis, 'tagged'));
tags('TagAwareAdapter', new TagAwareAdapter(new RedisAdapter($redis, 'plain')));
locks($redis);
echo "passed\n";
