import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { lastDigits } from '../../core/phone/written';
import { sendByProfile } from '../../core/profile/serviceProfile';
import { recordOf } from '../../core/service/envelope';
import { isRejection } from '../../core/service/errors';
import type { JsonObject } from '../../core/values/json';
import { type Fields, MAY_BE_BLANK } from '../../host/forms/fields';
import {
	additionalBodyFields,
	additionalQueryParameters,
	concurrencyField,
	optionsCollection,
	readConcurrency,
} from '../../host/forms/options';
import type { AccountClient } from '../../host/http/accountClient';
import type { PreparedRequest } from '../../host/run/preparedRequest';
import { deliverEachItem } from '../../host/run/deliverItems';
import { asItems } from '../../host/run/itemLoop';
import type { Operation, OperationRun } from '../../host/run/operations';
import { dndAgentField, type NumberOnList, phoneField, readNumber } from '../dndFields';

/** Changes that affect people are sent one after another. */
const CHANGES_AT_ONCE = 1;

const CHANGES = { added: 'added to', removed: 'removed from' };

/** @param verb for the number, such as "add" */
function changeSettings(verb: string): INodeProperties {
	return optionsCollection(
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
		dndAgentField,
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
		dndAgentField,
		phoneField,
		{
			displayName: 'Ignore If Not Listed',
			name: 'treatNotListedAsDone',
			type: 'boolean',
			default: false,
			description:
				"Whether to continue if the number isn't on the list. Use this if the workflow may run again for the same number.",
		},
		changeSettings('remove'),
	],
	toolDescription:
		'Removes a phone number from the do-not-disturb list of an AI agent, so that the person may get real phone calls again. Use this only if the person has agreed to be called.',

	async execute(run) {
		return await changeEachNumber(run, 'removed', (form, { agentUuid, phone, additions }) => {
			const ignoreIfNotListed = form.switch('treatNotListedAsDone', false);
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
 * Adds or removes the number of each item once. Both have the same target, because one undoes the other.
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
	const prepare = (index: number): PreparedRequest => {
		const form = run.parameters.at(index);
		const list = readNumber(form);
		const { agentUuid, phone, additions } = list;
		const { more, send } = readChange(form, list);
		return {
			payload: { change, agentUuid, phone, additions, ...more },
			target: ['do-not-disturb list', agentUuid, lastDigits(phone)],
			happened: (output) => {
				const isChanged = output.some(({ json }) => json.was_listed !== false);
				return `${phone} was ${isChanged ? CHANGES[change] : 'not on'} the do-not-disturb list.`;
			},
			send: async ({ account }) => asItems(await send(account)),
			withDetails: (error) =>
				error.withText({
					message: `${error.message} (${phone})`,
					resolution: `The request wasn't sent again. Before anybody repeats it, check whether ${phone} is on the list.`,
				}),
		};
	};
	return await deliverEachItem(run, prepare, {
		concurrency: readConcurrency(run.parameters, CHANGES_AT_ONCE),
	});
}
