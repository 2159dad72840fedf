import type { MongosInvocation } from '../host/mongos-host.js'
import { isStaleCode } from '../remote/command-reply.js'
import type { RemoteCommand } from '../remote/remote.js'
import { scatter } from '../routing/scatter.js'

/**
 * The replies are in the order of the members.
 * @throws CommandError the first error, a stale one before others
 */
export async function askAll(
  invocation: MongosInvocation,
  members: readonly string[],
  commandFor: (member: string) => RemoteCommand,
): Promise<(readonly [member: string, reply: Uint8Array])[]> {
  const answers = await scatter(invocation, members, commandFor, true)
  const failures = answers.flatMap((answer) => answer.error ?? [])
  const failure = failures.find((error) => isStaleCode(error.code)) ?? failures[0]
  if (failure !== undefined) throw failure
  return answers.map(({ member, body }) => [member, body!] as const)
}
