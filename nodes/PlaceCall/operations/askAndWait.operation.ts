import type { Operation } from '../../host/run/operations';
import { questionFields, readQuestion } from '../ask';
import { callOptions } from '../fields/options';
import { personName, recipientFields } from '../fields/recipient';
import { callingHours } from '../fields/when';
import { callLimit } from '../callLimiter';
import { completeFailed, placeCalls } from '../placeCalls';

export const askAndWait: Operation = {
	value: 'askAndWait',
	name: 'Ask and Wait',
	action: 'Ask person by phone and wait for answer',
	description: 'Call a person, ask a yes-or-no question, and continue with the answer',
	fields: [
		...recipientFields,
		...questionFields,
		...callingHours,
		...callLimit,
		callOptions(personName),
	],
	toolDescription:
		'Places a real phone call, which costs money, to ask a person one question, waits for the end of the call, and returns the answer: yes, no, not_reached, or unclear. Only yes is an approval. Use this only if a person has to decide, and once for each question. If timed_out is true, the call may still be in progress. Repeat the same request to wait longer. It does not place another call.',

	execute: async (run) => await placeCalls(run, readQuestion),
	notBegun: (run, failed) => [completeFailed(run, failed, true)],
};
