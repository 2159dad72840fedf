import {
  credentialsDocument,
  credentialsWanted,
  makeCredentials,
  type CredentialsWanted,
  type ScramCredentials,
  type UserArguments,
} from '@shardlab/auth'
import type { NodeHost } from '../host/node-host.js'
import type { StoredUsers } from './stored-users.js'

/**
 * The field `credentials` for the password of a command. Other commands run between the steps.
 * @throws CommandError BadValue
 */
export async function hashPassword(host: NodeHost, store: StoredUsers, args: UserArguments): Promise<Uint8Array> {
  const wanted = credentialsWanted(args, host.parameters.strings('authenticationMechanisms'))
  if (wanted.length === 0) return credentialsDocument([])
  return store.inTurn(async () => {
    const made: (readonly [CredentialsWanted, ScramCredentials])[] = []
    for (const each of wanted) made.push([each, await credentialsOf(host, each)])
    return credentialsDocument(made)
  })
}

async function credentialsOf(
  { context, parameters }: NodeHost,
  { mechanism, password }: CredentialsWanted,
): Promise<ScramCredentials> {
  const parameter = mechanism.name === 'SCRAM-SHA-1' ? 'scramIterationCount' : 'scramSHA256IterationCount'
  // 2.6 has no such parameters.
  const iterations = parameters.find(parameter) === undefined ? mechanism.iterations : parameters.number(parameter)
  const steps = makeCredentials(mechanism, password, iterations, context.secretBytes(mechanism.saltLength))
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await context.nextTurn()
  }
}
