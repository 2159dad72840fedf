/** Of charts and maps. */
export const textFont = '12px system-ui, "DejaVu Sans", sans-serif'

let context: CanvasRenderingContext2D | null = null

/** Pixels of a text in the font of charts and maps. */
export function widthOf(text: string): number {
  if (context === null) {
    context = document.createElement('canvas').getContext('2d')!
    context.font = textFont
  }
  return context.measureText(text).width
}
