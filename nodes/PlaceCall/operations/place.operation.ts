import type { Operation } from '../../host/run/operations';
import { callLimit } from '../callLimiter';
import { callOptions } from '../fields/options';
import { checkFields, personName, recipientFields } from '../fields/recipient';
import { callingHours, outsideCallingHours, when } from '../fields/when';
import { completeFailed, placeCalls } from '../placeCalls';

export const place: Operation = {
	value: 'place',
	name: 'Place',
	action: 'Place call',
	description: 'Call a person, now or later',
	fields: [
		...checkFields,
		...recipientFields,
		personName,
		...when,
		...callingHours,
		outsideCallingHours,
		...callLimit,
		callOptions(),
	],
	toolDescription:
		'Places a real phone call, which costs money: an AI agent calls the number and talks to the person who answers, now or at the given time. A call cannot be undone. Use this only if the call is wanted, and once for each person. Returns the call ID. Use the ID to read the result of the conversation later.',
	toolDescriptionOfCheck:
		'Checks the number and the time of a phone call, and says when it would be placed. Calls nobody and changes nothing. Only the person who set up this tool can let it call.',

	execute: async (run) => await placeCalls(run),
	notBegun: (run, failed) => [completeFailed(run, failed)],
};
