# Sidekiq: jobs, jobs for later and retries, which its poller moves with a
# script. The file is the driver, and what the worker that it starts loads.
require 'sidekiq'
require 'sidekiq/api'

Redis.silence_deprecations = true # this Sidekiq is older than this client
ENV['REDIS_URL'] = "redis://#{ENV.fetch('SERVER')}/0"

class Add
  include Sidekiq::Worker
  def perform(a, b)
    Sidekiq.redis { |c| c.rpush('sums', a + b) }
  end
end

class Late
  include Sidekiq::Worker
  def perform(name)
    Sidekiq.redis { |c| c.hset('late', name, Time.now.to_f) }
  end
end

class Flaky
  include Sidekiq::Worker
  sidekiq_options retry: 3
  def perform
    raise 'not yet' if Sidekiq.redis { |c| c.incr('tries') } < 3
  end
end

class Never
  include Sidekiq::Worker
  sidekiq_options retry: 1
  def perform
    raise 'never'
  end
end

# SoonRetry leaves out the random half minute before a retry.
module SoonRetry
  def delay_for(*)
    0.2
  end
end

if Sidekiq.server?
  require 'sidekiq/job_retry'
  Sidekiq::JobRetry.prepend(SoonRetry)
  Sidekiq.options[:poll_interval_average] = 0.5
  return
end

def until_true(what)
  1500.times do
    return if yield
    sleep 0.02
  end
  raise "#{what}: it did not come to pass"
end

began = Time.now.to_f
Late.perform_in(1, 'soon')
Late.perform_in(3600, 'never')
10.times { |n| Add.perform_async(n, n) }
Sidekiq::Client.push_bulk('class' => Add, 'args' => (10...20).map { |n| [n, n] })
Flaky.perform_async
Never.perform_async
raise 'two are scheduled' unless Sidekiq::ScheduledSet.new.size == 2

worker = Process.spawn('sidekiq', '-r', File.expand_path(__FILE__), '-c', '3', '-q', 'default', '-t', '2', out: File::NULL)
begin
  until_true('the jobs') { Sidekiq.redis { |c| c.llen('sums') } == 20 }
  sums = Sidekiq.redis { |c| c.lrange('sums', 0, -1) }.map(&:to_i).sort
  raise "sums: #{sums}" unless sums == (0...20).map { |n| 2 * n }

  until_true('the scheduled job') { Sidekiq.redis { |c| c.hexists('late', 'soon') } }
  at = Sidekiq.redis { |c| c.hget('late', 'soon') }.to_f - began
  raise "it came after #{at} s" unless at >= 1
  raise 'the other waits' unless Sidekiq::ScheduledSet.new.size == 1

  until_true('the retries') { Sidekiq.redis { |c| c.get('tries') } == '3' }
  until_true('the dead job') { Sidekiq::DeadSet.new.size == 1 && Sidekiq::RetrySet.new.size.zero? }
  raise 'the dead job' unless Sidekiq::DeadSet.new.first.item['error_message'] == 'never'

  stats = nil
  until_true('the statistics') { (stats = Sidekiq::Stats.new).processed >= 25 && stats.failed >= 4 }
ensure
  Process.kill('TERM', worker)
  Process.wait(worker)
end
puts 'passed'
