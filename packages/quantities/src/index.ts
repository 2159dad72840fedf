export { durationHint, durationPattern, formatDuration, parseDuration, timeUnitsMs } from './duration.js'
export { formatSize, parseSize, readableSize, sizeHint, sizeUnitsBytes, withReadableSizes } from './size.js'
