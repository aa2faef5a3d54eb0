<?php
// Laravel's queue, locks and limiters over Redis, with both of its clients.
// What moves a job, frees a lock or counts is a script.
error_reporting(E_ALL & ~E_DEPRECATED); // this Laravel is older than this PHP
require 'Illuminate/Redis/autoload.php';
require 'Illuminate/Queue/autoload.php';
require 'Illuminate/Cache/autoload.php';
require 'Predis/autoload.php';

use Illuminate\Cache\RedisStore;
use Illuminate\Container\Container;
use Illuminate\Contracts\Redis\LimiterTimeoutException;
use Illuminate\Queue\RedisQueue;
use Illuminate\Redis\RedisManager;

function want(bool $holds, string $what): void
{
    global $client;
    if (!$holds) {
        fwrite(STDERR, "$client: $what\n");
        exit(1);
    }
}

function until(string $what, callable $holds): mixed
{
    for ($i = 0; $i < 1500; ++$i) {
        if (($got = $holds()) !== null && $got !== false) {
            return $got;
        }
        usleep(20000);
    }
    want(false, "$what: it did not come to pass");
}

function queue(RedisManager $redis): void
{
    $queue = new RedisQueue($redis, 'jobs', 'default', 1); // a job that is not done in 1 s is another's
    $queue->setContainer(new Container());
    $queue->setConnectionName('redis');
    for ($n = 0; $n < 3; ++$n) {
        $queue->push('Work', ['n' => $n]);
    }
    $began = microtime(true);
    $queue->later(2, 'Work', ['n' => 'late']);
    want($queue->size() === 4, 'four jobs are there');
    $first = $queue->pop();
    want($first->payload()['data'] === ['n' => 0] && $first->attempts() === 1, 'jobs come in order');
    $first->delete();
    $released = $queue->pop();
    $released->release(0);
    $lost = $queue->pop(); // and nobody deletes it
    want($lost->payload()['data'] === ['n' => 2], 'a job that was released goes to the end');
    $again = until('the released job', fn () => $queue->pop());
    want($again->payload()['data'] === ['n' => 1] && $again->attempts() === 2, 'a job that was released comes again');
    $again->delete();
    $rest = [];
    for ($i = 0; $i < 2; ++$i) {
        $job = until('a job', fn () => $queue->pop());
        $rest[] = $job->payload()['data']['n'];
        $job->delete();
    }
    want(in_array('late', $rest) && in_array(2, $rest), 'a lost job and a late one come: ' . json_encode($rest));
    want(microtime(true) - $began >= 1, 'the late one is late'); // it counts in whole seconds
    want($queue->size() === 0, 'none is left');
    $queue->push('Work');
    want($queue->clear('jobs') === 1, 'a queue is cleared');
}

function locks(RedisStore $cache): void
{
    $lock = $cache->lock('report', 30);
    want($lock->get() === true, 'a free lock is had');
    want($cache->lock('report', 30)->get() === false, 'a lock that is held is not');
    want($cache->lock('report', 30)->release() === false, 'nobody frees the lock of another');
    want($cache->restoreLock('report', $lock->owner())->release() === true, 'its owner does');
    want($cache->lock('report', 30)->block(1) === true, 'a lock that was freed is had');
    want($cache->add('once', 'x', 60) === true && $cache->add('once', 'y', 60) === false, 'a value is added once');
}

function limiters(RedisManager $redis): void
{
    $passed = $refused = 0;
    for ($i = 0; $i < 8; ++$i) {
        $redis->connection()->throttle('mails')->allow(5)->every(60)->block(0)->then(
            function () use (&$passed) { ++$passed; }, function () use (&$refused) { ++$refused; });
    }
    want([$passed, $refused] === [5, 3], "five of eight pass a throttle, got $passed");
    $funnel = fn (callable $do) => $redis->connection()->funnel('exports')->limit(2)->releaseAfter(60)->block(0)->then($do);
    $third = null;
    $inner = function () use ($funnel, &$third) {
        try {
            $third = $funnel(fn () => 'inside');
        } catch (LimiterTimeoutException) {
            $third = 'refused';
        }
    };
    $funnel(fn () => $funnel($inner));
    want($third === 'refused', 'a funnel of two refuses the third');
    want($funnel(fn () => 'inside') === 'inside', 'and takes one when they are done');
}

[$host, $port] = explode(':', getenv('SERVER'));
foreach (['phpredis', 'predis'] as $client) {
    $redis = new RedisManager(new Container(), $client, ['default' => ['host' => $host, 'port' => (int) $port, 'database' => 0]]);
    $redis->connection()->command('flushdb');
    queue($redis);
    locks(new RedisStore($redis, 'cache'));
    limiters($redis);
}
echo "passed\n";
