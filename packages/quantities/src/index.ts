export { durationHint, durationPattern, formatDuration, parseDuration, timeUnitsMs } from './duration.js'
export { formatSize, parseSize, sizeHint, sizeUnitsBytes } from './size.js'
