-- Applies one plan, or says why not. Everything is read and checked before the
-- first write, and the first write (INCR) is one that Redis refuses when it
-- refuses writes at all, so a refusal leaves nothing behind.
--
-- KEYS  controls, meta, changes, commander, version
-- ARGV  1 control  2 run  3 fence  4 digest  5 step  6 actor
--       7 "1" when a value was there before, 8 that value
--       9 "1" when a value is to be written, 10 that value
--      11 the steady value, "" when unknown
--      12 milliseconds until readers fall back to the dead man's value, "0" never
--      13 the rest of the meta's JSON object, from its first key on
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

local commander = redis.call('HMGET', KEYS[4], 'run', 'fence', 'actor', 'host', 'since', 'until')
if commander[1] ~= run or commander[2] ~= fence then
  return {'commanded', commander[1] or '', commander[2] or '', commander[3] or '', commander[4] or '',
          commander[5] or '', commander[6] or '', tostring(now)}
end

local wanted = ARGV[7] == '1' and ARGV[8]
if found ~= wanted then
  return {'moved', tostring(lastversion), found and '1' or '0', found or ''}
end

local version = redis.call('INCR', KEYS[5])
if version <= lastversion then
  version = lastversion + 1
  redis.call('SET', KEYS[5], version)
end

local after = ARGV[9] == '1' and ARGV[10]
if after then
  redis.call('HSET', KEYS[1], control, after)
else
  redis.call('HDEL', KEYS[1], control)
end

local meta = '{"version":' .. string.format('%d', version) .. ',"at":' .. string.format('%d', now)
if after and after ~= ARGV[11] then
  local since = tonumber(old.since) or now
  if since <= 0 then since = now end
  meta = meta .. ',"since":' .. string.format('%d', since)
end
if ARGV[12] ~= '0' then
  meta = meta .. ',"until":' .. string.format('%d', now + tonumber(ARGV[12]))
end
redis.call('HSET', KEYS[2], control, meta .. ',' .. ARGV[13])
redis.call('PERSIST', KEYS[1])
redis.call('PERSIST', KEYS[2])

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
local added = redis.pcall('XADD', KEYS[3], 'MAXLEN', '~', '10000', '*', unpack(entry))
local note = type(added) == 'table' and added.err or ''
return {'applied', string.format('%d', version), after and '1' or '0', after or '', note}
