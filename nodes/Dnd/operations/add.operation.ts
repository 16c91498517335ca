import { MAY_BE_BLANK } from '../../host/forms/fields';
import type { Operation } from '../../host/run/operations';
import { addDndNumber, type Additions } from '../../core/service/endpoints';
import { recordOf } from '../../core/service/envelope';
import type { ApiMapping } from '../../core/profile/apiMapping';
import { placeValues } from '../../core/profile/placeValues';
import { changeEachNumber, changeSettings } from '../changeEachNumber';
import { dndAgentsFields } from '../allAgents';
import { phoneField } from '../dndFields';

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

	async execute(run) {
		return await changeEachNumber(run, 'added', (form, { agentUuid, phone, additions }) => {
			const reason = form.text('reason', MAY_BE_BLANK);
			return {
				more: { reason },
				send: async ({ client, apiMapping }) => {
					const values = valuesToAdd(apiMapping, { agentUuid, phone, reason });
					// The response isn't documented, so it's returned unchanged.
					return recordOf(await addDndNumber(client, values, additions));
				},
			};
		});
	},
};

/**
 * The parameters of an addition, as set in the credential.
 *
 * @throws InvalidInput if the API mapping lacks a value, before anything is sent
 */
function valuesToAdd(
	mapping: ApiMapping,
	{ agentUuid, phone, reason }: { agentUuid: string; phone: string; reason: string },
): Additions {
	const added = [
		{ name: 'dndAddAgentName', placement: 'dndAddAgentPlacement', value: agentUuid },
		{ name: 'dndAddPhoneName', placement: 'dndAddPhonePlacement', value: phone },
		{ name: 'dndAddReasonName', placement: 'dndAddReasonPlacement', value: reason },
	] as const;
	const given = added.filter(({ value }) => value !== '');
	const arePlaced = given.every(({ placement }) => mapping.optional(placement) !== undefined);
	mapping.require([
		...(arePlaced ? [] : (['dndAddPlacement'] as const)),
		...given.map(({ name }) => name),
	]);
	return placeValues(
		given.map(({ name, placement, value }) => ({
			placement: mapping.optional(placement) ?? mapping.required('dndAddPlacement'),
			name: mapping.required(name),
			value,
		})),
	);
}
