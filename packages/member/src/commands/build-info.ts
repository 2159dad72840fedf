import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

export const buildInfo: CommandRow<MemberInvocation> = {
  name: 'buildInfo',
  aliases: ['buildinfo'],
  routing: 'local',
  access: 'none',
  privileges: 'none',
  manual: 'reference/command/buildInfo',
  status: 'partial',
  deviations: ['D700'],
  summary: 'Returns the emulated version.',
  run({ host }) {
    const version = host.behaviours.serverVersion
    const parts = version.split('.').map(Number)
    const writer = new DocumentWriter(512)
      .string('version', version)
      .string('gitVersion', '0000000000000000000000000000000000000000')
      .startArray('modules')
      .end()
      .string('allocator', 'system')
      .string('javascriptEngine', 'none')
      .string('sysInfo', 'deprecated')
      .startArray('versionArray')
    ;[...parts, 0].slice(0, 4).forEach((part, i) => writer.int32(String(i), part))
    writer
      .end()
      .startDocument('openssl')
      .string('running', 'disabled')
      .string('compiled', 'disabled')
      .end()
      .startDocument('buildEnvironment')
      .string('distmod', '')
      .string('distarch', 'x86_64')
      .string('target_arch', 'x86_64')
      .string('target_os', 'linux')
      .end()
      .int32('bits', 64)
      .bool('debug', false)
      .int32('maxBsonObjectSize', 16 * 1024 * 1024)
    return host.process === 'mongos'
      ? writer
      : writer.startArray('storageEngines').string('0', 'ephemeralForTest').end()
  },
}
