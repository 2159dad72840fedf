import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

export const listCommands: CommandRow<MemberInvocation> = {
  name: 'listCommands',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  manual: 'reference/command/listCommands',
  status: 'full',
  summary: 'Lists the commands of the member.',
  run({ host }) {
    const rows = [...host.commandRows].sort((a, b) => (a.name < b.name ? -1 : 1))
    const writer = new DocumentWriter(16_384).startDocument('commands')
    for (const { name, summary, adminOnly, access, apiVersion1 } of rows) {
      writer
        .startDocument(name)
        .string('help', summary)
        .bool('requiresAuth', access !== 'none')
        .bool('secondaryOk', access !== 'write')
        .bool('adminOnly', adminOnly ?? false)
        .startArray('apiVersions')
      if (apiVersion1 === true) writer.string('0', '1')
      writer.end().startArray('deprecatedApiVersions').end().end()
    }
    return writer.end()
  },
}
