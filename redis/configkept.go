package redis

import "strings"

// keptParameters are those of keptTable.
func keptParameters() []parameter {
	var all []parameter
	for line := range strings.Lines(keptTable) {
		all = append(all, keptParameter(strings.TrimSuffix(line, "\n")))
	}
	return all
}

// keptTable lists the parameters of Redis 7.0 that mean nothing here: name
// (and another name), form, and default. They are accepted so that tools and
// test suites which set them go on. What is fixed cannot be set, in Redis
// neither; what is hidden is shown to who asks for its name. Where Firn's answer differs from Redis's default, it is what holds
// here: there are no snapshots to save and no forks.
const keptTable = `active-defrag-cycle-max number:1:99 25
active-defrag-cycle-min number:1:99 1
active-defrag-ignore-bytes bytes:1:9223372036854775807 104857600
active-defrag-max-scan-fields number:1:9223372036854775807 1000
active-defrag-threshold-lower number:0:1000 10
active-defrag-threshold-upper number:0:1000 100
activerehashing yesno yes
always-show-logo fixed no
aof-disable-auto-gc yesno no
aof-load-truncated yesno yes
aof-rewrite-incremental-fsync yesno yes
aof-timestamp-enabled yesno no
aof-use-rdb-preamble yesno yes
aof_rewrite_cpulist fixed 
appenddirname fixed appendonlydir
appendfilename fixed appendonly.aof
auto-aof-rewrite-min-size bytes 67108864
auto-aof-rewrite-percentage number:0:2147483647 100
bgsave_cpulist fixed 
bind-source-addr text 
bio_cpulist fixed 
cluster-allow-pubsubshard-when-down yesno yes
cluster-allow-reads-when-down yesno no
cluster-allow-replica-migration yesno yes
cluster-announce-bus-port number:0:65535 0
cluster-announce-hostname text 
cluster-announce-ip text 
cluster-announce-port number:0:65535 0
cluster-announce-tls-port number:0:65535 0
cluster-config-file fixed nodes.conf
cluster-enabled fixed no
cluster-link-sendbuf-limit bytes 0
cluster-migration-barrier number:0:2147483647 1
cluster-node-timeout number:0:9223372036854775807 15000
cluster-port fixed 0
cluster-preferred-endpoint-type ip|hostname|unknown-endpoint ip
cluster-replica-no-failover=cluster-slave-no-failover yesno no
cluster-replica-validity-factor=cluster-slave-validity-factor number:0:2147483647 10
cluster-require-full-coverage yesno yes
crash-log-enabled yesno yes
crash-memcheck-enabled yesno yes
daemonize fixed no
disable-thp fixed yes
dynamic-hz yesno yes
enable-module-command fixed no
enable-protected-configs fixed no
ignore-warnings text 
io-threads fixed 1
io-threads-do-reads fixed no
jemalloc-bg-thread yesno yes
key-load-delay hidden:number:-2147483648:2147483647 0
latency-tracking yesno yes
lazyfree-lazy-eviction yesno no
lazyfree-lazy-expire yesno no
lazyfree-lazy-server-del yesno no
lazyfree-lazy-user-del yesno no
lazyfree-lazy-user-flush yesno no
lfu-decay-time number:0:2147483647 1
lfu-log-factor number:0:2147483647 10
list-compress-depth number:0:2147483647 0
logfile fixed 
masterauth text 
masteruser text 
maxmemory-clients percent 0
maxmemory-eviction-tenacity number:0:100 10
maxmemory-policy volatile-lru|volatile-lfu|volatile-random|volatile-ttl|allkeys-lru|allkeys-lfu|allkeys-random|noeviction noeviction
maxmemory-samples number:1:2147483647 5
min-replicas-max-lag=min-slaves-max-lag number:0:2147483647 10
min-replicas-to-write=min-slaves-to-write number:0:2147483647 0
no-appendfsync-on-rewrite yesno no
oom-score-adj no|yes|relative|absolute no
oom-score-adj-values scores 0 200 800
pidfile fixed 
proc-title-template title {title} {listen-addr} {server-mode}
propagation-error-behavior ignore|panic|panic-on-replicas ignore
rdb-del-sync-files yesno no
rdb-save-incremental-fsync yesno yes
rdb-key-save-delay hidden:number:-2147483648:2147483647 0
rdbchecksum fixed yes
rdbcompression yesno yes
repl-backlog-size bytes:1:9223372036854775807 1048576
repl-backlog-ttl number:0:9223372036854775807 3600
repl-disable-tcp-nodelay yesno no
repl-diskless-load disabled|on-empty-db|swapdb disabled
repl-diskless-sync yesno yes
repl-diskless-sync-delay number:0:2147483647 5
repl-diskless-sync-max-replicas number:0:2147483647 0
repl-ping-replica-period=repl-ping-slave-period number:1:2147483647 10
repl-timeout number:1:2147483647 60
replica-announce-ip=slave-announce-ip text 
replica-announce-port=slave-announce-port number:0:65535 0
replica-announced yesno yes
replica-ignore-disk-write-errors yesno no
replica-ignore-maxmemory=slave-ignore-maxmemory yesno yes
replica-lazy-flush=slave-lazy-flush yesno no
replica-priority=slave-priority number:0:2147483647 100
replica-read-only=slave-read-only yesno yes
replica-serve-stale-data=slave-serve-stale-data yesno yes
replicaof=slaveof fixed 
sanitize-dump-payload no|yes|clients no
save save 
server_cpulist fixed 
set-proc-title fixed yes
shutdown-on-sigint shutdown default
shutdown-on-sigterm shutdown default
shutdown-timeout number:0:2147483647 10
socket-mark-id fixed 0
stop-writes-on-bgsave-error yesno yes
supervised fixed no
syslog-enabled fixed no
syslog-facility fixed local0
syslog-ident fixed redis
tcp-backlog fixed 511
tls-client-cert-file text 
tls-client-key-file text 
tls-client-key-file-pass text 
tls-cluster yesno no
tls-replication yesno no
tls-session-cache-size number:0:2147483647 20480
tls-session-cache-timeout number:0:2147483647 300
unixsocketperm fixed 0
use-exit-on-panic hidden:yesno no
watchdog-period hidden:number:0:2147483647 0
`
