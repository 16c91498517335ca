import countBy from 'lodash/countBy';
import get from 'lodash/get';
import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { type Explanation, onScreenOnly } from '../core/service/resolution';
import type { JsonObject } from '../core/values/json';
import type { Fields } from '../host/forms/fields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
	readConcurrency,
} from '../host/forms/options';
import type { AccountClient } from '../host/http/accountClient';
import type { PreparedRequest } from '../host/ledger/preparedRequest';
import { asItems } from '../host/run/itemLoop';
import type { OperationRun } from '../host/run/operations';
import { deliverEachItem } from '../host/run/deliverItems';
import { counted, plainText } from '../core/values/values';
import { type NumberOnList, readLists, withAgent } from './dndFields';
import { commonDigits } from '../core/dnd/listedNumbers';

/** Changes that affect people are sent one after another. */
const CHANGES_AT_ONCE = 1;

const CHANGES = { added: 'added to', removed: 'removed from' };

/** @param verb for the number, such as "add" */
export function changeSettings(verb: string): INodeProperties {
	return developerSettings(
		additionalBodyFields,
		additionalQueryParameters,
		concurrencyField(CHANGES_AT_ONCE, `How many numbers to ${verb} at the same time`),
	);
}

/**
 * Adds or removes the number of each item, once, on each list. Both have the same target, because one undoes the other.
 *
 * @param readChange reads what else decides the request, and returns how to send it
 */
export async function changeEachNumber(
	run: OperationRun,
	change: 'added' | 'removed',
	readChange: (
		form: Fields,
		list: NumberOnList,
	) => { more?: JsonObject; send: (account: AccountClient) => Promise<JsonObject> },
): Promise<INodeExecutionData[]> {
	const { partNames, listAt } = await readLists(run);
	const isOne = partNames.length === 1;
	const lists = `do-not-disturb ${isOne ? 'list' : `lists of ${counted(partNames.length, 'agent')}`}`;
	const prepare = (index: number): PreparedRequest => {
		const { form, list } = listAt(index);
		const { agentUuid, phone, additions } = list;
		const { more, send } = readChange(form, list);
		return {
			payload: { change, agentUuid, phone, additions, ...more },
			target: ['do-not-disturb list', agentUuid, commonDigits(phone)],
			modelMayRepeat: 'afterOtherRequest',
			happened: (output) => {
				// Of several lists, the text of the last one stands for all.
				if (change === 'removed' && !isOne) return `${phone} is on none of the ${lists} now.`;
				const isChanged = output.some(({ json }) => json.was_listed !== false);
				return `${phone} was ${isChanged ? CHANGES[change] : 'not on'} the ${lists}.`;
			},
			send: async ({ account }) => asItems(withAgent(await send(account), list)),
			withDetails: (error) =>
				error.withText({
					message: `${error.message} (${phone})`,
					resolution: {
						onScreen: `The request wasn't sent again. Before you try again, use the Check operation to see whether ${phone} is on the list.`,
						forModel: 'The request was not sent again.',
					},
				}),
		};
	};
	const items = await deliverEachItem(run, prepare, {
		concurrency: readConcurrency(run.parameters, CHANGES_AT_ONCE),
		partNames,
	});
	if (!isOne) run.result.addHints(...hintsFor(items));
	return items;
}

/** The outcomes on the lists of all agents, such as "4 lists: 3 done, 1 rejected", unless all are done. */
function hintsFor(items: readonly INodeExecutionData[]): Explanation[] {
	const counts = countBy(items, ({ json }) => {
		if (json.error !== undefined) return plainText(get(json, 'details.outcome')).replace('_', ' ');
		return json.was_listed === false ? 'not listed' : 'done';
	});
	if (counts.done === items.length) return [];
	const texts = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
	const message = `${counted(items.length, 'list')}: ${texts.join(', ')}`;
	return [{ message, resolution: onScreenOnly('The output has one item for each.') }];
}
