import { OptionError } from '@shardlab/cluster'
import { natsQueue, type JobKind, type JobQueue } from '@shardlab/jobs'
import { natsOptions, type JobFlags } from '../commands/nats-flags.js'

export interface QueueOpener<Input, Output> {
  /** undefined: the jobs are played here. */
  readonly open: ((parameters: string) => Promise<JobQueue<Input, Output>>) | undefined
  /** Removes an open queue from the server. */
  end(): Promise<void>
}

/**
 * @param print receives what the user has to do
 * @throws OptionError for options of NATS without its URL
 */
export function queueOpener<Input, Output>(
  kind: JobKind<Input, Output>,
  flags: JobFlags,
  print: (text: string) => void,
): QueueOpener<Input, Output> {
  const nats = natsOptions(flags)
  if (nats === null) {
    const { job, natsCreds, natsTlsCa, natsTlsCert, natsTlsKey } = flags
    if ([job, natsCreds, natsTlsCa, natsTlsCert, natsTlsKey].some((flag) => flag !== undefined))
      throw new OptionError('--job and the options of NATS need --nats with the address of the server')
    return { open: undefined, async end() {} }
  }
  let opened: JobQueue<Input, Output> | null = null
  return {
    async open(parameters) {
      const { job } = flags
      const queue = await natsQueue(kind, {
        nats,
        parameters,
        onNews: print,
        ...(job === undefined ? {} : { name: job }),
      })
      opened = queue
      const stored = queue.isResumed ? ` resumes with ${queue.stored} results;` : ':'
      print(`job ${queue.name}${stored} start workers on any machine with shardlab worker --nats ${queue.address}`)
      return queue
    },
    async end() {
      await opened?.end()
    },
  }
}
