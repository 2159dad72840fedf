export type Tone = 'fine' | 'warn' | 'bad'

/** A text, some pieces of which are code or stressed. */
export type RichText = string | readonly (string | { readonly code: string } | { readonly strong: string })[]

export type Cell = RichText | { readonly text: RichText; readonly tone: Tone }
