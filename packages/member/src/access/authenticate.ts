/** Logins by SCRAM. Server: sasl_commands.cpp, authentication_session.cpp. */
import {
  AuthenticationError,
  fullUserName,
  meetsAddressRestrictions,
  mechanismsOf,
  readCredentials,
  ScramConversation,
  scramMechanisms,
  type AccessRules,
  type ScramMechanism,
  type ScramReply,
  type UserName,
} from '@shardlab/auth'
import { BsonType, CommandError, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import type { Connection } from '../connections/connection-table.js'
import type { MemberHost } from '../member-host.js'
import { accessRulesOf } from './access-rules.js'
import { ConnectionAccess } from './connection-access.js'
import { payloadText } from './login-payload.js'
import type { FoundUser } from './user-source.js'

/** The members that take part in one step of a login. */
export interface LoginStep {
  readonly host: MemberHost
  readonly connection: Connection
  readonly db: string
  /** With `apiStrict` a connection logs in once. */
  readonly isStrict: boolean
}

export interface SaslStart {
  readonly mechanism: string
  /** Binary, or a text in base64. */
  readonly payload: RawValue
  readonly options: Uint8Array | undefined
}

/** Created by the first command that needs it. */
export function accessOfConnection({ behaviours }: MemberHost, connection: Connection): ConnectionAccess {
  return (connection.access ??= new ConnectionAccess(accessRulesOf(behaviours)))
}

/** @throws CommandError of an unknown mechanism, AuthenticationFailed, 5626701 … */
export async function startLogin(step: LoginStep, start: SaslStart): Promise<DocumentWriter> {
  const { host, connection, db } = step
  const rules = accessRulesOf(host.behaviours)
  const access = accessOfConnection(host, connection)
  const parsed = parsedPayload(start.payload, rules)
  access.endExchange()
  const mechanism = mechanismOf(start.mechanism, step)
  const exchange = {
    db,
    scram: new ScramConversation(mechanism, skipsEmptyExchange(start.options, rules)),
    user: null as string | null,
  }
  const payload = parsed ?? payloadText(start.payload, rules)
  try {
    exchange.user = exchange.scram.first(payload)
    const found = await acquireUser(host, { user: exchange.user, db })
    const credentials = found === null ? null : readCredentials(found.user.credentials, mechanism.name)
    const reply = exchange.scram.challenge(credentials, host.context.secretBytes(ScramConversation.nonceBytes))
    access.exchange = exchange
    return writeReply(reply, start.payload)
  } catch (error) {
    throw noted(step, mechanism.name, exchange.user, error)
  }
}

/** @throws CommandError ProtocolError, AuthenticationFailed, 5626701 … */
export async function continueLogin(
  step: LoginStep,
  conversationId: number,
  payload: RawValue,
): Promise<DocumentWriter> {
  const { host, connection, db } = step
  const rules = accessRulesOf(host.behaviours)
  const access = accessOfConnection(host, connection)
  const parsed = parsedPayload(payload, rules)
  const { exchange } = access
  // A failed step ends the login.
  access.exchange = null
  if (exchange === null) throw outOfOrder(access, rules)
  if (exchange.db !== db && !rules.has('loginsKeepDatabase'))
    throw new CommandError('ProtocolError', 'Attempt to switch database target during SASL authentication.')
  if (conversationId !== 1) throw new CommandError('ProtocolError', 'sasl: Mismatched conversation id')
  const { scram, user } = exchange
  const text = parsed ?? payloadText(payload, rules)
  try {
    const reply = scram.last(text)
    if (reply.isDone) await completeLogin(step, access, { user: user!, db: exchange.db }, scram.mechanism)
    else access.exchange = exchange
    return writeReply(reply, payload)
  } catch (error) {
    throw noted(step, scram.mechanism.name, user, error)
  }
}

/**
 * Since 5.0 a malformed payload leaves the login as it is. Null: until 4.4 the payload is read
 * later, and a malformed one ends the login.
 * @throws CommandError those of {@link payloadText}
 */
function parsedPayload(payload: RawValue, rules: AccessRules): string | null {
  return rules.has('parsedPayloads') ? payloadText(payload, rules) : null
}

function outOfOrder({ isAnnounced }: ConnectionAccess, rules: AccessRules): CommandError {
  return new CommandError(
    'ProtocolError',
    isAnnounced && rules.has('continuationNeedsStart')
      ? 'saslContinue must follow saslStart'
      : 'No SASL session state found',
  )
}

/** The client does not learn that users cannot be read, either. */
async function acquireUser(host: MemberHost, name: UserName): Promise<FoundUser | null> {
  try {
    return await host.users.find(name)
  } catch (error) {
    if (error instanceof CommandError) throw new AuthenticationError(error.message)
    throw error
  }
}

async function completeLogin(
  { host, connection, isStrict }: LoginStep,
  access: ConnectionAccess,
  name: UserName,
  { name: mechanism }: ScramMechanism,
): Promise<void> {
  const { generation } = host.users
  const found = await host.users.find(name)
  if (found === null) throw new AuthenticationError('the user was dropped')
  admit({ host, connection, isStrict }, access, { found, generation, mechanism })
}

/** @throws CommandError AuthenticationFailed, and for a second user */
export function admit(
  { host, connection, isStrict }: Omit<LoginStep, 'db'>,
  access: ConnectionAccess,
  {
    found,
    generation,
    mechanism,
  }: { readonly found: FoundUser; readonly generation: number; readonly mechanism: string },
): void {
  const { name } = found.user
  if (!isAddressAllowed(found, connection.remote, host.context.endpoint))
    throw new AuthenticationError('the address is restricted')
  access.logIn(found, generation, isStrict)
  host.logBuffer.add(host.context.now(), 'I', 'ACCESS', 5286306, `conn${connection.id}`, 'Successfully authenticated', {
    client: connection.remote,
    mechanism,
    user: name.user,
    db: name.db,
  })
}

/** See {@link ConnectionAccess.refresh}. */
export function refreshUsers({ users, context }: MemberHost, { access, remote }: Connection): Promise<void> | null {
  return access?.refresh(users, (found) => isAddressAllowed(found, remote, context.endpoint)) ?? null
}

function isAddressAllowed({ user, restrictions }: FoundUser, remote: string, endpoint: string): boolean {
  const own = user.authenticationRestrictions === null ? [] : [user.authenticationRestrictions]
  return meetsAddressRestrictions([...own, ...restrictions], hostOf(remote), hostOf(endpoint))
}

/** Without the port, and an IPv6 address without brackets. */
export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1')
}

/** @throws CommandError MechanismUnavailable, before 5.0 BadValue */
function mechanismOf(name: string, { host, db }: LoginStep): ScramMechanism {
  const offered = host.parameters.strings('authenticationMechanisms')
  const mechanism = scramMechanisms.get(name)
  if (mechanism !== undefined && offered.includes(name) && db !== '$external') return mechanism
  checkOffered(host, name)
  const code = accessRulesOf(host.behaviours).has('mechanismUnavailable') ? 'MechanismUnavailable' : 'BadValue'
  throw new CommandError(code, `Unsupported mechanism '${name}' on authentication database '${db}'`)
}

/** @throws CommandError MechanismUnavailable, before 5.0 BadValue: it is not offered */
export function checkOffered({ behaviours, parameters }: MemberHost, mechanism: string): void {
  const rules = accessRulesOf(behaviours)
  if (!rules.has('mechanismCounters') || parameters.strings('authenticationMechanisms').includes(mechanism)) return
  throw rules.has('mechanismUnavailable')
    ? new CommandError(
        'MechanismUnavailable',
        `Received authentication for mechanism ${mechanism} which is not enabled`,
      )
    : new CommandError('BadValue', `Received authentication for mechanism ${mechanism} which is unknown or not enabled`)
}

/** The mechanisms of a user, the strongest first; null: the user is unknown. */
export async function mechanismsFor(host: MemberHost, name: UserName): Promise<readonly string[] | null> {
  const found = await host.users.find(name)
  if (found === null) return null
  const own = mechanismsOf(found.user)
  const offered = host.parameters.strings('authenticationMechanisms')
  return [...scramMechanisms.keys()].filter((each) => own.includes(each) && offered.includes(each))
}

/** Logs the reason, which the client does not learn. */
export function noted(
  { host, connection, db }: LoginStep,
  mechanism: string,
  user: string | null,
  error: unknown,
): unknown {
  if (error instanceof CommandError)
    host.logBuffer.add(host.context.now(), 'I', 'ACCESS', 5286307, `conn${connection.id}`, 'Failed to authenticate', {
      client: connection.remote,
      mechanism,
      user: fullUserName({ user: user ?? '', db }),
      error: error instanceof AuthenticationError ? error.reason : error.message,
    })
  return error
}

/** In the form of the request: binary, or base64. */
function writeReply({ payload, isDone }: ScramReply, request: RawValue): DocumentWriter {
  const writer = new DocumentWriter(256).int32('conversationId', 1).bool('done', isDone)
  return request.type === BsonType.string
    ? writer.string('payload', Buffer.from(payload).toString('base64'))
    : writer.binary('payload', 0, Buffer.from(payload))
}

/** @throws CommandError BadValue */
function skipsEmptyExchange(options: Uint8Array | undefined, rules: AccessRules): boolean {
  if (options === undefined || !rules.has('skippedExchange')) return false
  const value = findField(options, 'skipEmptyExchange')
  if (value === undefined) return false
  if (value.type !== BsonType.bool) throw new CommandError('BadValue', 'skipEmptyExchange must be boolean')
  return value.asBool()
}
