export type WorkerEvent =
  | { readonly type: 'ready'; readonly address: string }
  /** The run was begun by another version of Shardlab. */
  | { readonly type: 'refused'; readonly run: string; readonly version: string }
  /** A sentence for the user, such as about a message that cannot be read. */
  | { readonly type: 'news'; readonly sentence: string }
  | { readonly type: 'taken'; readonly run: string; readonly kind: string; readonly key: string }
  /**
   * `stored`: its result; `dropped`: the run has ended; `returned`: to other workers; `failed`: the
   * server does not store the result.
   */
  | {
      readonly type: 'ended'
      readonly run: string
      readonly key: string
      readonly how: 'stored' | 'dropped' | 'returned' | 'failed'
    }
