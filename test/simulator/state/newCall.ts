import type { Call } from './types';

/** What changes while a call is in progress, and after it. */
type Progress = Pick<
	Call,
	| 'finished'
	| 'outcome'
	| 'transcript'
	| 'recording'
	| 'reads'
	| 'deliveries'
	| 'dialed'
	| 'isTalking'
>;

/** A call in progress. */
export function newCall(call: Omit<Call, keyof Progress>): Call {
	return {
		...call,
		finished: false,
		outcome: {},
		transcript: [],
		recording: null,
		reads: 0,
		deliveries: [],
		dialed: true,
		isTalking: false,
	};
}
