import { resolve } from 'node:path'
import t from 'tap'
import { nestedByPath } from '../../src/servers/given-options.js'
import { helpOf } from '../../src/servers/help.js'
import { optionsOf, type ServerName } from '../../src/servers/option-table.js'
import { parseCommandLine } from '../../src/servers/parse-command-line.js'
import { parseConfigFile } from '../../src/servers/parse-config-file.js'
import { resolveSettings, type ServerSettings } from '../../src/servers/server-settings.js'

const settingsOf = (line: string, server: ServerName = 'mongod'): ServerSettings =>
  resolveSettings(server, parseCommandLine(line.split(' ').filter(Boolean), optionsOf(server)))

const settingsInFile = (text: string, server: ServerName = 'mongod'): ServerSettings =>
  resolveSettings(server, parseConfigFile(text, optionsOf(server)))

t.test('the lines of tools are accepted', async (t) => {
  const lines: [string, Partial<ServerSettings>][] = [
    [
      '--port 40001 --dbpath /tmp --storageEngine wiredTiger --bind_ip 127.0.0.1 --noauth',
      { port: 40_001, dbPath: '/tmp' },
    ],
    [
      '--port 1 --dbpath /d --replSet testset --storageEngine ephemeralForTest --bind_ip 127.0.0.1',
      { setName: 'testset' },
    ],
    ['--replSet=rs0 --port=0 --nounixsocket', { setName: 'rs0', port: 0, role: 'mongod' }],
    ['--dbpath /d --logpath /d/log --port 2 --bind_ip localhost', { logPath: '/d/log', hosts: ['127.0.0.1'] }],
    ['--dbpath /d --logpath /d/log --port 2 --fork --wiredTigerCacheSizeGB 1', { fork: true }],
    ['--shardsvr --replSet s1', { role: 'shard', port: 27_018 }],
    ['--configsvr --replSet c', { role: 'config-server', port: 27_019 }],
    [
      '-vvv --setParameter enableTestCommands=1 --setParameter a=b',
      { parameters: { enableTestCommands: '1', a: 'b' } },
    ],
    ['--bind_ip_all --ipv6', { hosts: ['::'] }],
    ['--bind_ip 127.0.0.1,10.0.0.1,/tmp/socket', { hosts: ['127.0.0.1', '10.0.0.1'] }],
    ['', { port: 27_017, setName: null, role: 'mongod', hosts: ['127.0.0.1'] }],
  ]
  for (const [line, expected] of lines) t.match(settingsOf(line), expected, line)
  t.match(settingsOf('--configdb csrs/127.0.0.1:1,b --port 3', 'mongos'), {
    ...{ role: 'mongos', port: 3, configDb: { setName: 'csrs', hosts: ['127.0.0.1:1', 'b:27019'] } },
  })
})

t.test('wrong command lines get the texts of the server', async (t) => {
  const lines: [string, string, ServerName?][] = [
    ['--foo', "Error parsing command line: unrecognised option '--foo'"],
    ['--foo=1', "Error parsing command line: unrecognised option '--foo=1'"],
    ['-x', "Error parsing command line: unrecognised option '-x'"],
    ['--configdb a/b', "Error parsing command line: unrecognised option '--configdb'"],
    ['--dbpath /d', "Error parsing command line: unrecognised option '--dbpath'", 'mongos'],
    ['--port', "Error parsing command line: the required argument for option '--port' is missing"],
    ['--port --fork', "Error parsing command line: the required argument for option '--port' is missing"],
    ['--fork=true', "Error parsing command line: option '--fork' does not take any arguments"],
    ['--port 1 --port 2', "Error parsing command line: option '--port' cannot be specified more than once"],
    ['more', 'Error parsing command line: too many positional options have been specified on the command line'],
    ['--port abc', 'Error parsing option "port" as int: Did not consume any digits'],
    ['--port 1x', 'Error parsing option "port" as int: Did not consume whole string.'],
    ['--port 65536', 'BadValue: net.port must be less than or equal to 65535'],
    ['--port=-1', 'BadValue: net.port must be greater than or equal to 0'],
    [
      '--setParameter periodicNoopIntervalSecs=11',
      'BadValue: Invalid value for parameter periodicNoopIntervalSecs: 11 is not less than or equal to 10',
    ],
    ['--setParameter a', 'Illegal option assignment: "a"'],
    ['--fork', 'BadValue: --fork has to be used with --logpath or --syslog'],
    [
      '--shardsvr',
      'BadValue: Cannot start a shardsvr as a standalone server. Please use the option --replSet to start the node as a replica set.',
    ],
    ['', 'BadValue: error: no args for --configdb', 'mongos'],
    ['--configdb 127.0.0.1:1', 'BadValue: configdb supports only replica set connection string', 'mongos'],
    ['--auth --replSet rs0', 'BadValue: security.keyFile is required when authorization is enabled with replica sets'],
    ['--transitionToAuth', 'BadValue: --transitionToAuth is not emulated: remove it.'],
    ['--tlsFIPSMode', 'BadValue: --tlsFIPSMode is not emulated: remove it.'],
    ['--tlsMode on', 'Error during global initialization: BadValue: unsupported value for tlsMode on'],
    ['--sslMode requireTLS', 'Error during global initialization: BadValue: unsupported value for sslMode requireTLS'],
    [
      '--tlsMode requireTLS',
      'Error during global initialization: BadValue: need tlsCertificateKeyFile or certificateSelector when TLS is enabled',
    ],
    [
      '--tlsMode requireTLS --tlsCertificateKeyFile a --tlsCRLFile b',
      'Error during global initialization: BadValue: need tlsCAFile with tlsCRLFile',
    ],
    [
      '--tlsCAFile a',
      'Error during global initialization: BadValue: need to enable TLS via the sslMode/tlsMode flag when using TLS configuration parameters',
    ],
    [
      '--tlsMode allowTLS --tlsCertificateKeyFile a --tlsDisabledProtocols TLS1_2,SSL3',
      "Error during global initialization: BadValue: Unrecognized disabledProtocols 'SSL3'",
    ],
  ]
  for (const [line, message, server] of lines) {
    t.equal(
      messageOf(() => settingsOf(line, server)),
      message,
      line,
    )
  }
  t.equal(settingsOf('--tlsMode disabled').tls, null)
})

t.test('options of TLS have old names, too', (t) => {
  const line = '--sslMode preferSSL --sslPEMKeyFile /a --sslPEMKeyPassword b --sslWeakCertificateValidation'
  t.same(settingsOf(`${line} --sslDisabledProtocols noTLS1_1,TLS1_3`).tls, {
    ...{ mode: 'preferTLS', certificateKeyFile: '/a', certificateKeyFilePassword: 'b' },
    ...{ disabledProtocols: ['TLS1_1', 'TLS1_3'] },
    ...{ allowConnectionsWithoutCertificates: true, allowInvalidCertificates: false },
  })
  t.match(settingsOf('--tlsOnNormalPorts --tlsCertificateKeyFile a').tls, {
    mode: 'requireTLS',
    certificateKeyFile: resolve('a'),
  })
  t.end()
})

t.test('configuration files are YAML or name=value', async (t) => {
  const text = `
# a comment
net:
  port: 27117
  bindIp: 127.0.0.1
replication:
  replSetName: rs1
storage:
  dbPath: /data
  wiredTiger: { engineConfig: { cacheSizeGB: 0.5 } }
setParameter:
  enableTestCommands: 1
systemLog: { verbosity: 2 }
`
  t.match(settingsInFile(text), {
    ...{ port: 27_117, setName: 'rs1', dbPath: '/data', parameters: { enableTestCommands: '1' } },
  })
  t.match(settingsInFile('port = 27118 # here\nreplSet=rs2\n'), { port: 27_118, setName: 'rs2' })
  t.match(settingsInFile(''), { port: 27_017 })
  t.match(settingsInFile('sharding: { clusterRole: shardsvr }\nreplication: { replSetName: s }'), { role: 'shard' })
  t.same(nestedByPath(parseConfigFile('net: { port: 1 }', optionsOf('mongod'))), { net: { port: 1 } })
  const secret = 'net: { tls: { certificateKeyFilePassword: secret }, ssl: { PEMKeyPassword: secret } }'
  t.same(
    nestedByPath(parseConfigFile(secret, optionsOf('mongod'))),
    { net: { tls: { certificateKeyFilePassword: '<password>' }, ssl: { PEMKeyPassword: '<password>' } } },
    'the log has no passwords',
  )
})

t.test('damaged files get the texts of the server', async (t) => {
  const texts: [string, string | RegExp][] = [
    ['net:\n  port: [1\n', /^Error parsing YAML config file: yaml-cpp: error at line \d+, column \d+: /],
    ['net:\n  ports: 1\n', 'Unrecognized option: net.ports'],
    ['net:\n  port: many\n', 'Error parsing option "net.port" as int: Did not consume any digits'],
    ['- 1\n', 'No map found at top level of YAML config'],
    [
      'systemLog: { logAppend: maybe }',
      'Expected boolean switch but found string: maybe for option: systemLog.logAppend',
    ],
    ['ports = 1\n', "Error parsing INI config file: unrecognised option 'ports'"],
    ['security: { authorization: maybe }', 'BadValue: security.authorization expects either "enabled" or "disabled"'],
    ['sharding: { clusterRole: shard }', /^BadValue: Bad value for sharding.clusterRole: shard\./],
  ]
  for (const [text, message] of texts)
    t.match(
      messageOf(() => settingsInFile(text)),
      message,
      text,
    )
})

t.test('--help lists the options, which mlaunch reads', async (t) => {
  const help = helpOf('mongod')
  for (const name of ['--replSet', '--wiredTigerCacheSizeGB', '--oplogSize']) t.match(help, name)
  t.notMatch(help, '--configdb')
  t.match(helpOf('mongos'), '--configdb')
})

function messageOf(run: () => unknown): string {
  try {
    run()
    return 'no error'
  } catch (error) {
    return (error as Error).message
  }
}
