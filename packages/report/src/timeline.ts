export interface TimelineItem {
  readonly fromMs: number
  /** null: it has not ended; the same as `fromMs`: an instant. */
  readonly toMs: number | null
  readonly text: string
  /** `main`: what the timeline is about; `soft`: the background of it. */
  readonly tone: 'fine' | 'warn' | 'bad' | 'main' | 'soft'
  /** Of the height of the lane. Absent: all of it. */
  readonly share?: number
}

export interface TimelineLane {
  readonly name: string
  readonly items: readonly TimelineItem[]
}

export interface TimelineEntry {
  readonly atMs: number
  /** A name of `kinds`. */
  readonly kind: string
  readonly member: string
  readonly text: string
  /** `own`: about the subject; `other`: hidden while only those about the subject are shown. */
  readonly relation: 'own' | 'other' | null
}

/** Events as a picture, and below it as a table whose kinds can be hidden. */
export interface Timeline {
  readonly kind: 'timeline'
  /** What the picture shows. */
  readonly label: string
  readonly fromMs: number
  readonly toMs: number
  readonly lanes: readonly TimelineLane[]
  readonly legend: readonly { readonly tone: TimelineItem['tone']; readonly text: string }[]
  /** Lines through all lanes. */
  readonly lines: readonly { readonly atMs: number; readonly text: string }[]
  readonly entries: readonly TimelineEntry[]
  readonly kinds: readonly { readonly name: string; readonly title: string }[]
  /** Text of the choice that hides what is related as `other`; null: nothing is. */
  readonly ownTitle: string | null
}
