import countBy from 'lodash/countBy';
import get from 'lodash/get';
import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { commonDigits } from '../../core/dnd/listedNumbers';
import { sendByProfile } from '../../core/profile/serviceProfile';
import { recordOf } from '../../core/service/envelope';
import { isRejection } from '../../core/service/errors';
import { type Explanation, onScreenOnly } from '../../core/service/resolution';
import type { JsonObject } from '../../core/values/json';
import { counted, plainText } from '../../core/values/values';
import { type Fields, MAY_BE_BLANK } from '../../host/forms/fields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	developerSettings,
	readConcurrency,
} from '../../host/forms/options';
import type { AccountClient } from '../../host/http/accountClient';
import { beforeSending } from '../../host/claims/openDeliveries';
import type { PreparedRequest } from '../../host/claims/preparedRequest';
import { deliverEachItem } from '../../host/run/deliverItems';
import { asItems } from '../../host/run/itemLoop';
import type { Operation, OperationRun } from '../../host/run/operations';
import {
	dndAgentsFields,
	type NumberOnList,
	ONE_AGENT,
	phoneField,
	readLists,
	withAgent,
} from '../dndFields';

/** Changes that affect people are sent one after another. */
const CHANGES_AT_ONCE = 1;

const CHANGES = { added: 'added to', removed: 'removed from' };

/** @param verb for the number, such as "add" */
function changeSettings(verb: string): INodeProperties {
	return developerSettings(
		additionalBodyFields,
		additionalQueryParameters,
		concurrencyField(CHANGES_AT_ONCE, `How many numbers to ${verb} at the same time`),
	);
}

export const add: Operation = {
	value: 'add',
	name: 'Add',
	action: 'Add number to DND list',
	description: 'Stop an agent from calling a number, including in running campaigns',
	subtitle: 'stop calls to number',
	fields: [
		...dndAgentsFields,
		phoneField,
		{
			displayName: 'Reason',
			name: 'reason',
			type: 'string',
			default: '',
			placeholder: 'e.g. asked on the phone',
			description:
				'Why the number is on the list. Leave empty if your service has no reason field.',
		},
		changeSettings('add'),
	],
	toolDescription:
		'Adds a phone number to the do-not-disturb list of an AI agent. The agent then never calls it, not even in running campaigns. Use this when a person does not want to be called.',
	beforeSending,

	async execute(run) {
		return await changeEachNumber(run, 'added', (form, { agentUuid, phone, additions }) => {
			const reason = form.text('reason', MAY_BE_BLANK);
			return {
				more: { reason },
				// The response isn't documented, so it's returned unchanged.
				send: async (account) =>
					recordOf(
						await sendByProfile('dnd.add', account, { agent: agentUuid, phone, reason }, additions),
					),
			};
		});
	},
};

export const remove: Operation = {
	value: 'remove',
	name: 'Remove',
	action: 'Remove number from DND list',
	description: 'Let an agent call a number again',
	subtitle: 'allow calls to number',
	fields: [
		...dndAgentsFields,
		phoneField,
		{
			displayName: 'Ignore If Not Listed',
			name: 'treatNotListedAsDone',
			type: 'boolean',
			default: false,
			description:
				"Whether to continue if the number isn't on the list. Use this if the workflow may run again for the same number.",
			// A number is rarely on the lists of all agents.
			displayOptions: { show: ONE_AGENT },
		},
		changeSettings('remove'),
	],
	toolDescription:
		'Removes a phone number from the do-not-disturb list of an AI agent, so that the person may get real phone calls again. Use this only if the person has agreed to be called.',
	beforeSending,

	async execute(run) {
		return await changeEachNumber(run, 'removed', (form, list) => {
			const { agentUuid, phone, additions, agent } = list;
			const ignoreIfNotListed = form.switch('treatNotListedAsDone', agent !== undefined);
			return {
				send: async (account) => {
					const values = { agent: agentUuid, phone };
					const outcome = await sendByProfile('dnd.remove', account, values, additions).then(
						(response) => ({ was_listed: true, ...recordOf(response) }),
						(error: unknown) => {
							if (!ignoreIfNotListed || !isRejection(error, 'not_on_dnd_list')) throw error;
							return { was_listed: false, message: error.originalMessage ?? '' };
						},
					);
					return { deleted: true, agent_uuid: agentUuid, phone, ...outcome };
				},
			};
		});
	},
};

/**
 * Adds or removes the number of each item, once, on each list. Both have the same target, because one undoes the other.
 *
 * @param readChange reads what else decides the request, and returns how to send it
 */
async function changeEachNumber(
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
