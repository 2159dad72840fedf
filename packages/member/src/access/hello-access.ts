/** What hello replies about logins. Server: authentication_commands.cpp (handleHelloAuth). */
import type { UserName } from '@shardlab/auth'
import { BsonType, CommandError, type DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import type { Connection } from '../connections/connection-table.js'
import type { MemberHost, MemberInvocation } from '../member-host.js'
import { accessRulesOf } from './access-rules.js'
import { accessOfConnection, mechanismsFor, startLogin, type LoginStep } from './authenticate.js'
import { authenticateOnce, externalDb } from './certificate-login.js'

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
  const step = { host, connection, isStrict: args.bool('apiStrict') === true }
  const name = firstFieldName(start)
  try {
    const reply =
      name === 'saslStart'
        ? await speculativeStart(step, start)
        : name === 'authenticate'
          ? await speculativeAuthenticate(step, start)
          : null
    if (reply !== null) writer.document('speculativeAuthenticate', reply.finish())
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
  }
}

type StepWithoutDatabase = Omit<LoginStep, 'db'>

/** Null: it is malformed. */
function speculativeStart(step: StepWithoutDatabase, start: Uint8Array): Promise<DocumentWriter> | null {
  const db = textIn(start, 'db')
  const mechanism = textIn(start, 'mechanism')
  const payload = findField(start, 'payload')
  if (db === undefined || mechanism === undefined || payload === undefined) return null
  const options = findField(start, 'options')
  return startLogin(
    { ...step, db },
    { mechanism, payload, options: options?.type === BsonType.object ? options.slice() : undefined },
  )
}

/** Null: it is malformed. */
function speculativeAuthenticate(step: StepWithoutDatabase, start: Uint8Array): Promise<DocumentWriter> | null {
  const mechanism = textIn(start, 'mechanism')
  const user = findField(start, 'user') === undefined ? '' : textIn(start, 'user')
  if (mechanism === undefined || user === undefined) return null
  const namesDatabase = accessRulesOf(step.host.behaviours).has('certificateSubjects')
  const db = namesDatabase ? (textIn(start, 'db') ?? externalDb) : externalDb
  return authenticateOnce({ ...step, db }, { mechanism, user })
}

function textIn(document: Uint8Array, field: string): string | undefined {
  const value = findField(document, field)
  return value?.type === BsonType.string ? value.asString() : undefined
}

/** `database.user`. */
function parseUserName(text: string): UserName {
  const dot = text.indexOf('.')
  if (dot < 0) throw new CommandError('BadValue', "username must contain a '.' separated database.user pair")
  return { user: text.slice(dot + 1), db: text.slice(0, dot) }
}
