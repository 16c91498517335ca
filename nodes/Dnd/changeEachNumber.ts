import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import type { JsonObject } from '../shared/json';
import type { Fields } from '../shared/n8n/forms/fields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
	readConcurrency,
} from '../shared/n8n/forms/options';
import type { AccountClient } from '../shared/n8n/http/accountClient';
import type { PreparedRequest } from '../shared/n8n/once/preparedRequest';
import { asItems } from '../shared/n8n/run/itemLoop';
import type { OperationRun } from '../shared/n8n/run/operations';
import { sendEachItem } from '../shared/n8n/run/sendLoop';
import { type NumberOnList, readNumber } from './dndFields';
import { commonDigits } from './list/phoneMatch';

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
 * Adds or removes the number of each item, once. Both have the same target, because one undoes the other.
 *
 * @param readChange reads what else decides the request, and returns how to send it
 */
export async function changeEachNumber(
	{ context, parameters, account }: OperationRun,
	change: 'added' | 'removed',
	readChange: (
		form: Fields,
		number: NumberOnList,
	) => { more?: JsonObject; send: (account: AccountClient) => Promise<JsonObject> },
): Promise<INodeExecutionData[]> {
	const prepare = (index: number): PreparedRequest<AccountClient> => {
		const form = parameters.at(index);
		const number = readNumber(form);
		const { agentUuid, phone } = number;
		const { more, send } = readChange(form, number);
		return {
			payload: { change, ...number, ...more },
			target: ['do-not-disturb list', agentUuid, commonDigits(phone)],
			modelMayRepeat: 'afterOtherRequest',
			happened: () => `${phone} was ${CHANGES[change]} the do-not-disturb list.`,
			send: async (deps) => asItems(await send(deps)),
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
	return await sendEachItem(context, prepare, {
		createDeps: account,
		concurrency: readConcurrency(parameters, CHANGES_AT_ONCE),
	});
}
