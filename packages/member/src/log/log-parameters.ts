/** The parameters that affect the log. Manual: reference/parameters, logLevel, quiet. */
import { verbositiesOf } from '../parameters/log-components.js'
import type { MemberHost } from '../member-host.js'

type LoggingHost = Pick<MemberHost, 'parameters' | 'logBuffer'>

/** From now on the log follows the parameters. */
export function followLogParameters(host: LoggingHost): void {
  for (const name of ['logLevel', 'logComponentVerbosity', 'quiet'] as const)
    host.parameters.watch(name, () => applyLogParameters(host))
  applyLogParameters(host)
}

/** Call it after the parameters have changed without setParameter. */
export function applyLogParameters({ parameters, logBuffer }: LoggingHost): void {
  const own = verbositiesOf(parameters.string('logComponentVerbosity'))
  logBuffer.everyCommand = (own.get('command') ?? parameters.number('logLevel')) > 0
  logBuffer.quiet = parameters.bool('quiet')
}
