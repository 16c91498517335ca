import pick from 'lodash/pick';
import type { INodeProperties } from 'n8n-workflow';
import { OutcomeUnknown } from '../core/service/errors';
import { onScreenOnly, USER } from '../core/service/resolution';
import { hashOf } from '../core/values/hash';
import type { JsonObject } from '../core/values/json';
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
 * @param question of *Ask and Wait*
 * @param onEarlier gets the call of an earlier run of the node. `asksSame`: whether it asked the question. Undefined if the node
 * doesn't wait for calls.
 */
export function oncePerPerson(
	{ context, caller }: OperationRun,
	options: Fields,
	looseKey: string,
	question: string | undefined,
	onEarlier: ((call: JsonObject) => void) | undefined,
): OncePerPerson {
	const isModel = caller.kind === 'model';
	const isByRun = !isModel && options.switch(callAgainInLoops.name, false);
	return {
		person: hashOf(isByRun ? [looseKey, runNumberOf(context)] : looseKey),
		keep: onEarlier && placedCall,
		again: ({ item, isUnknown: isPerhaps, kept }) => {
			if (isPerhaps) return calledPerhaps();
			if (isModel) return calledBefore();
			const asksSame = question !== undefined && kept.question === hashOf(question);
			if (kept.call_id !== undefined) onEarlier?.({ ...pick(kept, KEPT), asksSame });
			return duplicate(item);
		},
	};
}

/** What another run of the node needs to wait for the call. */
const KEPT = ['call_id', 'asked_at', 'scheduled_for'];

function placedCall([output = {}]: JsonObject[]): JsonObject {
	const question = output.asked !== undefined && { question: hashOf(output.asked) };
	return { ...pick(output, KEPT), ...question };
}

/** Only its output is shown. */
function duplicate(of: number | null): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because another item has the same number",
		onScreenOnly(''),
		{ not_placed_reason: 'duplicate_number', duplicate_of: of },
	);
}

/** Its message gets the number with the other details of the call. */
function calledPerhaps(): OutcomeUnknown {
	const message = "This execution may have called the number before, so it wasn't called again";
	return new OutcomeUnknown(message, onScreenOnly(''), { origin: 'n8n' });
}

function calledBefore(): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because this number was called before in this execution",
		{
			onScreen: '',
			forModel: `Do not repeat this request. You can call other people. Tell ${USER} that this number was not called again.`,
		},
		{ not_placed_reason: 'duplicate_number', duplicate_of: null },
		true,
	);
}
