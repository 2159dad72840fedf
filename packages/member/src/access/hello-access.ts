/** What hello replies about logins. Server: authentication_commands.cpp (handleHelloAuth). */
import type { UserName } from '@shardlab/auth'
import { BsonType, CommandError, type DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import type { Connection } from '../connections/connection-table.js'
import type { MemberHost, MemberInvocation } from '../member-host.js'
import { accessRulesOf } from './access-rules.js'
import { accessOfConnection, mechanismsFor, startLogin } from './authenticate.js'

/**
 * Appends `saslSupportedMechs` and `speculativeAuthenticate`. A login that fails has no effect.
 * @throws CommandError BadValue for a user without database
 */
export async function writeLoginOfHello(invocation: MemberInvocation, writer: DocumentWriter): Promise<void> {
  const { args, host, connectionId } = invocation
  const connection = host.connections.stillOpen(connectionId)
  const rules = accessRulesOf(host.behaviours)
  const user = args.value('saslSupportedMechs')
  if (user?.type === BsonType.string && rules.has('mechanisms'))
    await writeMechanisms(host, connection, writer, parseUserName(user.asString()))
  const start = args.value('speculativeAuthenticate')
  if (start?.type === BsonType.object && rules.has('speculation'))
    await writeSpeculation(invocation, connection, writer, start.slice())
}

async function writeMechanisms(
  host: MemberHost,
  connection: Connection,
  writer: DocumentWriter,
  name: UserName,
): Promise<void> {
  accessOfConnection(host, connection).announce()
  const mechanisms = await mechanismsFor(host, name)
  if (mechanisms === null) return
  writer.startArray('saslSupportedMechs')
  mechanisms.forEach((mechanism, i) => writer.string(String(i), mechanism))
  writer.end()
}

async function writeSpeculation(
  { host, args }: MemberInvocation,
  connection: Connection,
  writer: DocumentWriter,
  start: Uint8Array,
): Promise<void> {
  const db = findField(start, 'db')
  const mechanism = findField(start, 'mechanism')
  const payload = findField(start, 'payload')
  if (firstFieldName(start) !== 'saslStart' || db?.type !== BsonType.string || mechanism?.type !== BsonType.string)
    return
  if (payload === undefined) return
  const options = findField(start, 'options')
  try {
    const reply = await startLogin(
      { host, connection, db: db.asString(), isStrict: args.bool('apiStrict') === true },
      {
        mechanism: mechanism.asString(),
        payload,
        options: options?.type === BsonType.object ? options.slice() : undefined,
      },
    )
    writer.document('speculativeAuthenticate', reply.finish())
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
  }
}

/** `database.user`. */
function parseUserName(text: string): UserName {
  const dot = text.indexOf('.')
  if (dot < 0) throw new CommandError('BadValue', "username must contain a '.' separated database.user pair")
  return { user: text.slice(dot + 1), db: text.slice(0, dot) }
}
