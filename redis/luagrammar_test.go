package redis

// What programs are drawn from. A hole $x is filled with a node of kind x:
//
//	n number   s string   b boolean   t table   a array without holes   v any
//	f function   i small integer   p pattern   q format   j JSON   c call of a command
//	S statement   B statement in a block   R result   C condition   x format of struct
//
// What Firn documents as different is not drawn: the order in which pairs walks
// several keys, addresses of tables and functions, clocks, results of libm to
// their last digit and sign of what is no number, names of variables in errors behind a constant and an "and",
// or of an empty name, handlers of xpcall that fail, and math.random where the script has not seeded it: Redis
// goes on where the last script was.

// luaLeaves end the drawing of a kind; the first is the simplest.
var luaLeaves = map[byte][]string{
	'n': {"1", "0", "2", "3", "-1", "0.5", "-2.75", "100", "1e15", "1e16", "123456789012", "0x10", "0xff", "1e100", "1e-7", "4294967296", "2147483648", "-2147483649",
		"9007199254740993", "n1", "n2", "#ARGV", "#KEYS", "math.pi", "math.huge", "-math.huge", "3.14159265358979", "1e300*10", ".5", "3.", "-0"},
	's': {"''", "'abc'", "' x y '", "'10'", "'0x1f'", "'1e2'", "'a\\0b'", "'\\255\\254'", "'hello world'", "'aXbXc'", "'k = v'", "s1", "s2", "(ARGV[1] or 'z')", "(KEYS[1] or 'y')",
		"[[long\nstring]]", "[==[a]]b]==]", "'\\065\\n\\t\\\\'", "'(a(b)c)'", "'-7'", "'nan'", "'inf'", "' 12 '", "'1.'", "'0x'", "'été'"},
	'b': {"true", "false", "b1", "nil"},
	't': {"{}", "t1", "t2", "{1, 2, 3}", "{'a', 'b'}", "{k = 1}", "{[1] = 'x'}", "{1, nil}", "{ok = 'fine'}", "{err = 'ERR bad'}", "{double = 1.5}", "m1", "{[2] = 'y'}", "{[1.5] = 1}"},
	'a': {"{}", "{1}", "{3, 1, 2}", "{'b', 'a', 'c'}", "t1", "KEYS", "ARGV", "{1, 'a', 2.5}"},
	'v': {"nil", "1", "true", "'a'", "{}", "false", "0.5", "t1", "t2", "s1", "m1", "f1", "ARGV[1]", "KEYS[1]", "ARGV[9]", "cjson.null", "1e17", "-1e17", "2^63", "-2^63", "2^53"},
	'f': {"f1", "f2", "function() end", "type", "function(...) return select('#', ...), ... end", "string.upper", "math.floor", "function(a) return a end", "function() error('boom') end",
		"function() error({err = 'ERR own'}) end", "function() error('level', 2) end", "function() error() end", "redis.call", "redis.pcall", "tonumber", "unpack", "m1"},
	'i': {"1", "0", "2", "3", "-1", "-2", "5", "10", "-10"},
	'S': {"put($v)"},
	'B': {"put($v)"},
	'R': {"out"},
	'C': {"b1", "n1 > 2", "s1 == 'abc'"},
	'x': {"'i4'", "'>I2I2'", "'<i8'", "'b'", "'BBB'", "'hH'", "'l'", "'f'", "'d'", "'s'", "'c0'", "'c3'", "'Bc0'", "'x'", "'!4bi4'", "'!8bd'", "'>!4 bI4'", "'i3'", "'i16'", "'i33'", "'z'", "'='", "''", "'i0'", "'c'", "'T'", "'L'", "'xxi2'"},
}

// luaBranches nest.
var luaBranches = map[byte][]string{
	'n': {"($n + $n)", "($n - $n)", "($n * $n)", "($n / $n)", "($n % $n)", "($i ^ $i)", "(-($n))", "(#$s)", "(#$a)", "(tonumber($s) or 0)", "tonumber($s, 16)", "(tonumber($s, $i) or 7)", "tonumber($v)",
		"math.floor($n)", "math.ceil($n)", "math.abs($n)", "math.max($n, $n)", "math.min($n, $n)", "math.fmod($n, $i)", "(math.modf($n))", "math.ldexp($n, $i)", "(math.frexp($n))", "select(2, math.frexp($n))", "math.sqrt($n)",
		"math.floor(math.log10(math.abs($n)))", "string.byte($s)", "string.byte($s, $i)", "string.len($s)", "(string.find($s, $p))", "(string.find($s, $s, $i, true))", "select('#', $v, $v)",
		"select('#', string.gsub($s, $p, $s))", "select(2, string.gsub($s, $p, $s))", "bit.band($n, $n)", "bit.bor($n, $n)", "bit.bxor($n, $n)", "bit.bnot($n)", "bit.lshift($n, $i)", "bit.rshift($n, $i)", "bit.arshift($n, $i)", "bit.rol($n, $i)",
		"bit.ror($n, $i)", "bit.bswap($n)", "bit.tobit($n)", "($s + $n)", "($s * 2)", "table.getn($a)", "table.maxn($t)", "(b1 and $n or $n)", "math.floor($n) % $i", "(tonumber((($f)($n))) or 2)", "math.deg(1)", "math.pow($i, $i)", "(tonumber(($c)) or 1)"},
	's': {"($s .. $s)", "($n .. $s)", "($s .. $i)", "tostring($n)", "tostring($s)", "tostring(not $b)", "($s):upper()", "($s):lower()", "($s):rep($i)", "($s):reverse()", "($s):sub($i, $i)", "($s):sub($i)", "string.format($q, $n)", "string.format($q, $s, $n)", "string.format($q, $v, $v, $v)",
		"(string.gsub($s, $p, $s))", "(string.gsub($s, $p, '%0%1'))", "(string.gsub($s, $p, '<%0>', $i))", "(string.gsub($s, $p, $f))", "(string.gsub($s, $p, $t))", "(string.match($s, $p))", "(string.match($s, $p, $i))", "table.concat($a)", "table.concat($a, $s)", "table.concat($a, ',', $i, $i)",
		"type($v)", "string.char($i, 65, 97)", "string.char($n)", "bit.tohex($n)", "bit.tohex($n, $i)", "redis.sha1hex($s)", "cjson.encode($v)", "cjson.encode($a)", "cjson.encode($n)", "cjson.encode($s)", "cmsgpack.pack($v)", "cmsgpack.pack($n, $s, $a)", "struct.pack($x, $n, $n)", "struct.pack($x, $s, $n)", "string.format('%q', $s)", "($s or $s)", "(b1 and $s)", "string.format('%s|%s', $v, $n)",
		"string.format('%.14g', $n)", "string.format('%5.1f|%d', $n, $i)", "string.format('%d', $n)", "string.format('%x', $n)", "string.format('%c%c', 65, $i)", "struct.pack('>I4', $n)", "(string.find($s, $p))"},
	'b': {"(not $v)", "($n == $n)", "($n < $n)", "($n <= $n)", "($s < $s)", "($s <= $s)", "($v == $v)", "($v ~= $v)", "($n > $n)", "rawequal($v, $v)", "(b1 and $b)", "($b or $v)", "(next($t) == nil)", "redis.acl_check_cmd('GET', 'a')", "($v < $v)", "($t == m1)", "(m1 < $t)"},
	't': {"{$v, $v}", "{$v, $v, $v}", "{k = $v}", "{[$s] = $v}", "{[$n] = $v}", "{$a, $t}", "setmetatable({}, {__index = $t})", "setmetatable({$v}, {__call = $f})", "{string.match($s, $p)}", "{string.find($s, $p, $i)}", "{pcall($f, $v)}", "{($f)($v, $v)}", "cjson.decode($j)", "{cjson.decode($j)}", "{cmsgpack.unpack(cmsgpack.pack($v))}",
		"{cmsgpack.unpack($s)}", "{struct.unpack($x, $s)}", "{struct.unpack('<i2', $s)}", "{unpack($a)}", "{unpack($a, $i, $i)}", "{select($i, $v, $v, $v)}", "redis.error_reply($s)", "redis.status_reply($s)", "$c", "{$c, $c}", "{table.remove($a)}", "{next($t)}", "{string.byte($s, 1, $i)}", "{xpcall($f, f1)}", "{math.modf($n)}", "{map = {k = $v}}", "{set = {a = true}}",
		"{verbatim_string = {string = $s, format = 'txt'}}", "{big_number = '123'}", "{double = $n}", "{err = $s}", "{ok = $s}", "{cmsgpack.unpack_one(cmsgpack.pack($v, $v))}", "{cmsgpack.unpack_limit(cmsgpack.pack($n, $s, $b), $i)}", "{assert($v, $s)}", "{loadstring('return ' .. (($s):gsub('%z', '')))}", "{tonumber($s), $n}", "{ok = $v}", "{err = $v}", "{$v, nil, $v}"},
	'a': {"{$n, $n, $n}", "{$s, $s}", "{$v}", "{$a, $a}", "{$n, $s, $b}", "{($f)($n, $n)}", "{unpack($a)}", "{$c}"},
	'v': {"$n", "$n", "$s", "$s", "$b", "$t", "$t", "$a", "$c", "$c", "$f", "($f)($v)", "pcall($f, $v)", "t1[$i]", "t2.k", "t2[$s .. 'x']", "m1[$s .. 'x']", "m1($v)", "(m1 + $n)", "(m1 .. $s)", "(-m1)", "($v or $v)", "(b1 and $v)", "(function(...) return ... end)($v, $v)", "(select(-1, $v, $v))", "rawget($t, $i)", "getmetatable($s)", "getmetatable($t)",
		"type($v)", "($v).field", "($v)[$v]", "($v):method()", "($v)($v)", "cjson.decode(cjson.encode($v))", "cmsgpack.unpack(cmsgpack.pack($v))", "unpack($a)", "nosuchglobal", "_G.nosuch", "_G.redis == redis", "tostring(nil)", "(#($v))", "(-($v))", "($v .. $v)", "($v + $v)", "($v < $v)", "string.find($s, $p)", "string.match($s, $p)", "string.gsub($s, $p, $s)",
		"redis.LOG_WARNING", "redis.REPL_ALL", "redis.setresp($i)", "redis.nosuch", "string.nosuch", "rawset(t1, $i, $v) == t1", "redis.set_repl(redis.REPL_ALL)", "redis.replicate_commands()", "redis.call($s)", "redis.call()", "redis.pcall()", "redis.pcall($v)", "redis.pcall('get', $v)", "redis.pcall('SET', 'a', $v)", "redis.error_reply($v)", "redis.status_reply($v)", "redis.sha1hex($v)", "redis.sha1hex()", "cjson.encode($v)", "table.remove($a, $i)", "table.concat($t)", "type(coroutine.running())", "coroutine.status(coroutine.create($f))", "coroutine.resume(coroutine.create($f), $v)", "coroutine.wrap($f)($v)", "coroutine.yield($v)", "collectgarbage('count') > 0"},
	'f': {"function(a, b) return $v end", "function(...) local a, b = ... return $v end", "function(...) return select($i, ...) end", "function(a) a = $v return a, $v end", "function() return $f end", "coroutine.wrap(function(a) while true do a = coroutine.yield($v) end end)"},
	'C': {"$b", "$n > $n", "$s == $s", "$v", "not $C", "($C and $C)", "($C or $C)"},
	'R': {"$v", "$v", "$t", "$n", "$s", "$b", "$c", "{$v, $v}", "{$v, out}", "$v, $v", "redis.error_reply($s)", "redis.status_reply($s)", "error($s)", "error($s, $i)", "{err = $s}", "{ok = $s}", "$c", "{$c, $c}", "($f)($v)", "cjson.decode($j)", "{double = $n}", "{map = {[$s] = $v}}", "{set = {[$s] = true}}", "{verbatim_string = {string = $s, format = 'txt'}}", "{big_number = $s}", "redis.call($s, $s)"},
	'S': {"put(pcall(function() return $v end))", "put(pcall(function() return $v end))", "put(pcall(function() return $n end))", "put(pcall(function() return $s end))", "put(pcall(function() return $t end))", "put(pcall(function() return $c end))", "put($c)", "put(pcall(function() $B end))", "put(pcall(function() $B $B end))", "put(pcall(function() $B $B $B end))", "$B", "redis.setresp(3)", "redis.setresp(2)", "put(pcall(function() $B $B return $v end))",
		"put(xpcall(function() return $v end, function(m) return 'H:' .. show(m, 0) end))", "put(pcall(loadstring((($s):gsub('%z', '')))))", "put(pcall(loadstring, 'return ' .. (($s):gsub('%z', ''))))", "put(pcall(error, $v))", "put(pcall(error, $s, $i))"},
	'B': {"n1 = $n", "n2 = $n", "s1 = $s", "s2 = $s", "b1 = $b", "t1 = $a", "t2 = $t", "f1 = $f", "f2 = $f", "t1[$i] = $v", "t2[$s] = nil", "t2.k = $v", "n1, n2 = $n, $n", "s1, n1 = $s, $n", "local x = $v put(x)", "do local n1, s1 = $v, $v put(n1, s1) end", "if $C then $B else $B end", "if $C then $B elseif $C then $B end",
		"for i = $i, 3 do put(i) $B if i > 5 then break end end", "for i = 3, $i, -1 do put(i) end", "for i, v in ipairs($a) do put(i, v) if i > 5 then break end end", "while $C do $B break end", "local w = 0 repeat w = w + 1 local z = w $B until z >= 2", "for k, v in pairs({$v}) do put(k, v) end", "for k, v in next, {k = $v} do put(k, v) end", "for w in string.gmatch($s, $p) do put(w) if #out > 60 then break end end",
		"put(pcall(table.insert, t1, $v))", "put(pcall(table.insert, t1, $i, $v))", "put(pcall(table.remove, t1))", "put(pcall(table.sort, t1))", "put(pcall(table.sort, {$n, $n, $n}))", "put(pcall(table.sort, {$s, $s, $s}, function(a, b) return a > b end))", "put(pcall(table.sort, {3, 1, 2}, $f))", "t1, t2 = {$v, $v}, {k = $v}", "put(pcall(setmetatable, $t, $t))", "rawset(t1, 1, $v)",
		"put(pcall(function() nosuch = $v end))", "put(pcall(function() string.rep = 1 end))", "put(pcall(function() redis.x = $v end))", "local co = coroutine.create(function(a, b) local c = coroutine.yield($v, a) put(c) $B return $v end) put(coroutine.resume(co, $v)) put(coroutine.status(co)) put(coroutine.resume(co, $v)) put(coroutine.status(co)) put(coroutine.resume(co))", "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end put(fib(10))",
		"local function vary(a, ...) return select('#', ...), a, ... end put(vary($v, $v, $v))", "put((function(...) local t = {...} return #t, ... end)($n, $s))", "local g = {} for i = 1, 3 do g[i] = function() n1 = n1 + i return i end end put(g[1](), g[3](), n1)", "put(pcall(string.gsub, $s, $p, $v))", "put(pcall(string.find, $s, $p, $i))", "put(pcall(string.format, $q, $v, $v))", "put(pcall(cjson.encode, $v))", "put(pcall(cjson.decode, $j))", "put(pcall(cmsgpack.unpack, $s))",
		"put(pcall(struct.unpack, $x, $s))", "put(pcall(struct.size, $x))", "put(pcall(bit.tohex, $v, $v))", "put(pcall(unpack, $a, $i, $i))", "put(pcall(select, $v, $v))", "put(pcall(tonumber, $v, $v))", "put(pcall(redis.log, $v, $v))", "put(pcall(redis.setresp, $v))", "put(pcall(redis.set_repl, $v))", "put(pcall(string.rep, $v, $i))", "math.randomseed($n) put(pcall(math.random, $i, $i))", "math.randomseed($n) put(math.random(100), math.floor(math.random() * 1e6), math.random(5, 9))", "put(pcall(setfenv, 1, {}))", "put(pcall(rawset, $v, $v, $v))", "put(pcall(next, $v))", "put(pcall(ipairs, $v))", "put(pcall(getmetatable, $v))", "put(pcall(tostring, $n))", "for i = $s, 2 do put(i) if i < -9 then break end end", "do return $v, $v end", "do error($s) end", "put(pcall(function() $B error($v) end))"},
}
