import { playTask } from './play-task.js'

export default playTask
