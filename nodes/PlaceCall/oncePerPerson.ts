import type { INodeProperties } from 'n8n-workflow';
import { OutcomeUnknown } from '../core/service/errors';
import { hashOf } from '../core/values/hash';
import type { OncePerPerson } from '../host/claims/preparedRequest';
import type { Fields } from '../host/forms/fields';
import { runNumberOf } from '../host/nodeRun';
import type { OperationRun } from '../host/run/operations';
import { NotPlaced } from './notPlaced';

export const callAgainInLoops: INodeProperties = {
	displayName: 'Call Again in Loops',
	name: 'callAgainInLoops',
	type: 'boolean',
	noDataExpression: true,
	default: true,
	description:
		'Whether each run of this node, as in a loop, may call the same number again. Otherwise, a number is called once per execution.',
	displayOptions: { hide: { '@tool': [true] } },
};

/**
 * A person is called once by the node in an execution.
 *
 * @param looseKey equal for all numbers that may be the same
 */
export function oncePerPerson(
	{ context, caller }: OperationRun,
	options: Fields,
	looseKey: string,
): OncePerPerson {
	const isByRun = caller.kind !== 'model' && options.switch(callAgainInLoops.name, false);
	return {
		person: hashOf(isByRun ? [looseKey, runNumberOf(context)] : looseKey),
		again: ({ item, isUnknown: isPerhaps }) => (isPerhaps ? calledPerhaps() : duplicate(item)),
	};
}

/** Its message gets the number with the other details of the call. */
function calledPerhaps(): OutcomeUnknown {
	const message = "This execution may have called the number before, so it wasn't called again";
	return new OutcomeUnknown(message, '', { origin: 'n8n' });
}

/** In a workflow, only its output is shown. */
function duplicate(of: number | null): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because this number was called before in this execution",
		'Do not call this number again in this execution. You can call other people.',
		{ not_placed_reason: 'duplicate_number', duplicate_of: of },
		true,
	);
}
