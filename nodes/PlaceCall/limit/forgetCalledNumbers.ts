import uniq from 'lodash/uniq';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { InvalidInput } from '../../shared/api/errors';
import { onScreenOnly } from '../../shared/api/resolution';
import type { Fields } from '../../shared/n8n/forms/fields';
import { runExclusiveOnStore } from '../../shared/n8n/idempotency/nodeStore';
import { readEachItem } from '../../shared/n8n/run/itemLoop';
import type { OperationRun } from '../../shared/n8n/run/operations';
import { returnsErrorsToAgent } from '../../shared/n8n/tools/toolRun';
import { readRecipient } from '../fields/readCall';
import { CalledNumbers } from './calledNumbers';
import { openCalledNumbers } from './callLimit';
import { forgetCalledField } from './forgetField';

type Scope = 'items' | 'all';

/** *Forget Called Numbers*. Undefined if the option isn't set. */
export function readForget(form: Fields): Scope | undefined {
	const scope = form.collection('options').choice(forgetCalledField.name, undefined);
	return scope === undefined || scope === 'all' ? scope : 'items';
}

/** Removes numbers from the list of *Limit Calls per Person*. Places no call. */
export async function forgetCalledNumbers(
	{ context, parameters }: OperationRun,
	scope: Scope,
): Promise<INodeExecutionData[]> {
	if (returnsErrorsToAgent(context)) {
		throw new InvalidInput(
			"A tool can't forget called numbers, so no call was placed",
			onScreenOnly("Remove 'Forget Called Numbers' from 'Options' of the tool."),
		);
	}
	const store = openCalledNumbers(context);
	if (scope === 'all') {
		await runExclusiveOnStore(context, async () => await store.clear());
		return forgot(context, 'all');
	}
	const zone = context.getTimezone();
	const keys = await readEachItem(
		context,
		(index) => readRecipient(parameters.at(index), zone).numberKey,
	);
	const numbers = new CalledNumbers(store);
	let forgotten = 0;
	for (const key of uniq(keys)) {
		const isForgotten = await runExclusiveOnStore(context, async () => await numbers.forget(key));
		if (isForgotten) forgotten++;
	}
	return forgot(context, forgotten);
}

function forgot(context: IExecuteFunctions, forgotten: number | 'all'): INodeExecutionData[] {
	const numbers =
		forgotten === 'all'
			? 'all called numbers'
			: `${forgotten.toLocaleString('en-US')} called ${forgotten === 1 ? 'number' : 'numbers'} of these items`;
	context.addExecutionHints({
		message: `The node forgot ${numbers}. No call was placed. To place calls again, remove 'Forget Called Numbers' from 'Options'.`,
	});
	return [{ json: { forgotten }, pairedItem: [] }];
}
