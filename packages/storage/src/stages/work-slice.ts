/**
 * How much an operation may compute before it gives up its turn. One slice is shared by all plans
 * of an operation.
 */
export interface WorkSlice {
  /** Plans and sources return null until the caller has begun the next slice. */
  readonly isOver: boolean
  /** Called after each unit of work. */
  worked(): void
}
