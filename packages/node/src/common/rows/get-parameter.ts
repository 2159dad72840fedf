import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, FieldIterator } from '@shardlab/bson'
import type { CommonInvocation } from '../common-invocation.js'

type Parameters = Readonly<Record<string, (writer: DocumentWriter, invocation: CommonInvocation) => void>>

/** Parameters that clients and their test harnesses read. */
const parameters: Parameters = {
  authenticationMechanisms: (writer) =>
    void writer.startArray('authenticationMechanisms').string('0', 'SCRAM-SHA-1').string('1', 'SCRAM-SHA-256').end(),
  enableTestCommands: (writer) => void writer.bool('enableTestCommands', true),
  featureCompatibilityVersion: (writer, { host }) =>
    void writer.startDocument('featureCompatibilityVersion').string('version', host.behaviours.featureCompatibilityVersion).end(),
  logLevel: (writer) => void writer.int32('logLevel', 0),
  quiet: (writer) => void writer.bool('quiet', false),
  requireApiVersion: (writer) => void writer.bool('requireApiVersion', false),
}

export const getParameter: CommandRow<CommonInvocation> = {
  name: 'getParameter',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getParameter',
  status: 'partial',
  missing: 'knows the parameters that drivers and shells ask for, not all of the server',
  summary: 'Reads server parameters.',
  run(invocation) {
    const { args, body, host } = invocation
    const writer = new DocumentWriter(256)
    const everything = (args.target.type === BsonType.string && args.target.asString() === '*') || args.target.type === BsonType.object
    let found = 0
    for (const [name, write] of Object.entries(parameters)) {
      // A mongos has no feature compatibility version of its own.
      if (name === 'featureCompatibilityVersion' && host.process === 'mongos' && everything) continue
      if (everything || named(body, name)) {
        write(writer, invocation)
        found++
      }
    }
    if (found === 0) throw new CommandError('InvalidOptions', 'no option found to get')
    return writer
  },
}

function named(body: Uint8Array, name: string): boolean {
  for (const it = new FieldIterator(body); it.next();) if (it.name() === name) return true
  return false
}
