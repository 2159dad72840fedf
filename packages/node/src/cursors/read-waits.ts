import type { ActorContext } from '@shardlab/actor'
import type { RunningOperation } from '@shardlab/member'

/** Waits of commands, some of which outlast the state of their member. */
export interface ReadWaits {
  /** Ends with the data rather than with the state of the member. */
  readonly context: ActorContext
  /**
   * A wait of a command. One that only reads outlasts a change of the member's state; others never
   * settle then.
   * @param ofState the context of the command's node
   * @param wait uses only the context it gets
   */
  during<T>(ofState: ActorContext, operation: RunningOperation, wait: (context: ActorContext) => Promise<T>): Promise<T>
}
