-- Applies one plan, or says why not. Everything is read and checked before the
-- first write, and the first write (INCR) is one that Redis refuses when it
-- refuses writes at all, so a refusal leaves nothing behind. The value is written
-- last of all that can be refused, so an error always means that it was not.
--
-- KEYS  controls, meta, changes, commander, version
-- ARGV  1 control  2 run  3 fence  4 digest  5 step  6 actor
--       7 "1" when a value was there before, 8 that value
--       9 "1" when a value is to be written, 10 that value
--      11 the steady value, "" when unknown
--      12 milliseconds until readers fall back to the dead man's value, "0" never
--      13 the rest of the meta's JSON object, from its first key on
--      14 the highest version that the run has seen
--      15 why, "" when the step says it  16 the process that commands
--      17 what readers do without the field, "" when unknown
local control, run, fence, digest = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local found = redis.call('HGET', KEYS[1], control)
local old = {}
local oldmeta = redis.call('HGET', KEYS[2], control)
if oldmeta then
  local ok, decoded = pcall(cjson.decode, oldmeta)
  if ok and type(decoded) == 'table' then old = decoded end
end
local lastversion = tonumber(old.version) or 0

if old.digest == digest then
  return {'applied', tostring(lastversion), found and '1' or '0', found or '', ''}
end

local commander = redis.call('HMGET', KEYS[4], 'run', 'fence', 'actor', 'host', 'since', 'until', 'process')
if commander[1] ~= run or commander[2] ~= fence or (commander[7] or '') ~= ARGV[16] then
  return {'commanded', commander[1] or '', commander[2] or '', commander[3] or '', commander[4] or '',
          commander[5] or '', commander[6] or '', tostring(now)}
end

local wanted = ARGV[7] == '1' and ARGV[8]
if found ~= wanted then
  return {'moved', tostring(lastversion), found and '1' or '0', found or ''}
end

-- The counter may have gone back in a failover; the control's own number and the
-- run's memory are the other witnesses.
local version = redis.call('INCR', KEYS[5])
local known = math.max(lastversion, tonumber(ARGV[14]))
if version <= known then
  version = known + 1
  redis.call('SET', KEYS[5], string.format('%d', version))
end

local after = ARGV[9] == '1' and ARGV[10]

local meta = '{"version":' .. string.format('%d', version) .. ',"at":' .. string.format('%d', now)
if (after or ARGV[17]) ~= ARGV[11] then
  local since = tonumber(old.since) or now
  if since <= 0 then since = now end
  meta = meta .. ',"since":' .. string.format('%d', since)
end
if ARGV[12] ~= '0' then
  meta = meta .. ',"until":' .. string.format('%d', now + tonumber(ARGV[12]))
end
redis.call('PERSIST', KEYS[1])
redis.call('PERSIST', KEYS[2])
redis.call('HSET', KEYS[2], control, meta .. ',' .. ARGV[13])

local written
if after then
  written = redis.pcall('HSET', KEYS[1], control, after)
else
  written = redis.pcall('HDEL', KEYS[1], control)
end
if type(written) == 'table' and written.err then
  if oldmeta then
    redis.call('HSET', KEYS[2], control, oldmeta)
  else
    redis.call('HDEL', KEYS[2], control)
  end
  return written
end

-- The change is done; a stream that cannot take the entry does not undo it.
local entry = {'control', control, 'version', string.format('%d', version), 'run', run, 'fence', fence,
               'step', ARGV[5], 'actor', ARGV[6], 'digest', digest}
if found then
  entry[#entry + 1] = 'before'
  entry[#entry + 1] = found
end
if after then
  entry[#entry + 1] = 'after'
  entry[#entry + 1] = after
end
if ARGV[15] ~= '' then
  entry[#entry + 1] = 'reason'
  entry[#entry + 1] = ARGV[15]
end
local added = redis.pcall('XADD', KEYS[3], 'MAXLEN', '~', '10000', '*', unpack(entry))
local note = type(added) == 'table' and added.err or ''
return {'applied', string.format('%d', version), after and '1' or '0', after or '', note}
