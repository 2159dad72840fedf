import { unpack } from './codec.js'
import { isNoMessage, isNotFound, persist, type JetStream } from './jet-stream.js'
import type { About } from './messages.js'
import type { RunNames } from './names.js'

/** null: the run is not on the server. */
export async function aboutOf(jetStream: JetStream, { dataStream, about }: RunNames): Promise<About | null> {
  try {
    const message = await persist(jetStream, () =>
      jetStream.manager.streams.getMessage(dataStream, { last_by_subj: about }),
    )
    return message === null ? null : unpack<About>(message.data)
  } catch (error) {
    if (isNotFound(error) || isNoMessage(error)) return null
    throw error
  }
}
