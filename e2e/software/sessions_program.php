<?php
// phpredis's session handler with locks: requests of one session take turns.
// The file is the page of PHP's own web server, and the driver that asks for
// it from several connections at once.
if (PHP_SAPI === 'cli-server') {
    session_start();
    $n = $_SESSION['n'] ?? 0;
    usleep(20000); // long enough that who does not wait is seen
    $_SESSION['n'] = $n + 1;
    session_write_close();
    echo 'count ', $n + 1, ' of ', session_id();
    exit;
}

// ask sends requests of one session at once, and returns what came.
function ask(string $addr, int $times): array
{
    $conns = [];
    for ($i = 0; $i < $times; ++$i) {
        $conns[] = $conn = stream_socket_client("tcp://$addr", $errno, $error, 20);
        fwrite($conn, "GET / HTTP/1.0\r\nHost: x\r\nCookie: PHPSESSID=0123456789abcdef0123456789abcdef\r\n\r\n");
    }
    return array_map('stream_get_contents', $conns);
}

// serve starts PHP's web server with four workers.
function serve(string $addr)
{
    $settings = ['session.save_handler=redis', 'session.save_path=tcp://' . getenv('SERVER'), 'redis.session.locking_enabled=1',
        'redis.session.lock_wait_time=5000', 'redis.session.lock_retries=2000', 'redis.session.lock_expire=30', 'session.gc_probability=0'];
    $args = [PHP_BINARY];
    foreach ($settings as $setting) {
        array_push($args, '-d', $setting);
    }
    $server = proc_open([...$args, '-S', $addr, __FILE__], [1 => ['file', '/dev/null', 'w'], 2 => ['file', '/dev/null', 'w']], $pipes,
        null, ['PHP_CLI_SERVER_WORKERS' => '4'] + getenv());
    for ($i = 0; $i < 500 && !@fsockopen("tcp://$addr"); ++$i) {
        usleep(20000);
    }
    return $server;
}

$free = stream_socket_server('tcp://127.0.0.1:0');
$addr = stream_socket_get_name($free, false);
fclose($free);
$server = serve($addr);
$counts = [];
for ($round = 0; $round < 5; ++$round) {
    foreach (ask($addr, 4) as $reply) {
        if (!preg_match('/count (\d+) of 0123456789abcdef/', $reply, $found)) {
            $counts[] = $reply;
            continue;
        }
        $counts[] = (int) $found[1];
    }
}
sort($counts);
[$host, $port] = explode(':', getenv('SERVER'));
$redis = new Redis();
$redis->connect($host, (int) $port);
$locks = $redis->keys('*_LOCK');
// The server's workers are its children: a signal to it alone leaves them.
foreach (glob('/proc/[0-9]*/stat') as $stat) {
    $fields = explode(' ', substr(strrchr((string) @file_get_contents($stat), ')'), 2));
    if (isset($fields[1]) && (int) $fields[1] === proc_get_status($server)['pid']) {
        posix_kill((int) explode('/', $stat)[2], SIGTERM);
    }
}
proc_terminate($server);
proc_close($server);
if ($counts !== range(1, 20) || $locks !== []) {
    fwrite(STDERR, 'counts ' . json_encode($counts) . ', want 1 to 20; locks left: ' . json_encode($locks) . "\n");
    exit(1);
}
echo "passed\n";
