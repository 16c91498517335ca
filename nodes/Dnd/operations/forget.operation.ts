import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { DateTime } from 'luxon';
import { InvalidInput } from '../../core/service/errors';
import { parseCampaignId } from '../../core/service/parseIds';
import { countedCalls } from '../../core/calls/callsPerPerson';
import { pushText } from '../../core/campaigns/campaign';
import { clock } from '../../host/clock';
import { optionalCountryField } from '../../host/forms/countryField';
import { MAY_BE_BLANK, type Fields } from '../../host/forms/fields';
import { openTextList, type StoreUse } from '../../host/claims/openTextList';
import { asItems, forEachItem } from '../../host/run/itemLoop';
import type { Operation } from '../../host/run/operations';
import { countryCode } from '../../core/phone/countries';
import { loosePhoneKey } from '../../core/phone/callPhone';
import { phoneField } from '../dndFields';

const STORE: StoreUse = {
	message: "n8n can't read or write the numbers that it remembers for this workflow",
	description:
		"Save the workflow and try again. If that doesn't help, ask your n8n administrator to check n8n's database.",
};

const scopeField: INodeProperties = {
	displayName: 'Numbers to Forget',
	name: 'numbersToForget',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'All Numbers',
			value: 'all',
			description: 'Forget every number that the nodes of this workflow remember',
		},
		{
			name: 'Number of Each Item',
			value: 'items',
			description:
				"Forget the number in 'Phone': its calls, and its push to the campaign in 'Campaign ID'",
		},
	],
	default: 'items',
	description:
		"Which numbers of 'Limit Calls per Person' and 'Numbers Pushed Before' to forget. The people can then be called and pushed again.",
};

const ofEachItem = { show: { numbersToForget: ['items'] } };

export const forget: Operation = {
	value: 'forget',
	name: 'Forget',
	action: 'Forget number in this workflow',
	description:
		"Delete a number from what this workflow remembers. The do-not-disturb list doesn't change.",
	subtitle: 'forget number in n8n',
	fields: [
		{
			displayName:
				'This operation sends nothing to the service. To stop calls to a person, add the number to the do-not-disturb list.',
			name: 'forgetNotice',
			type: 'notice',
			default: '',
		},
		scopeField,
		{
			...phoneField,
			description:
				"The phone number in any format. Without a country code, it's a number of 'Country', or an Indian mobile number.",
			displayOptions: ofEachItem,
		},
		{
			// Not a list, because the operation has no credential to load one.
			displayName: 'Campaign ID',
			name: 'campaignId',
			type: 'string',
			default: '',
			placeholder: 'e.g. 42',
			description:
				'The campaign that may get the number again. Leave empty to forget only its calls. For several campaigns, use an item for each.',
			displayOptions: ofEachItem,
		},
		{
			...optionalCountryField,
			description:
				'The country of a number that is written without its country code, as in Place Call. Type to search.',
			displayOptions: { ...ofEachItem, hide: { '@tool': [true] } },
		},
	],
	isReadOnly: true,
	toolDescription: 'Not available to AI agents. Calls nobody and changes nothing.',

	async execute(run) {
		const { context, caller, parameters } = run;
		if (caller.kind !== 'workflow') {
			throw new InvalidInput(
				"A tool can't forget numbers, so nothing was forgotten",
				"In n8n, choose another 'Operation' for this tool.",
			);
		}
		const store = openTextList(run, 'workflow', STORE);
		if (parameters.at(0).choice('numbersToForget', 'items') === 'all') {
			await store.clear();
			return [{ json: { forgotten: true }, pairedItem: [] }];
		}
		const now = DateTime.fromMillis(clock.now(), { zone: context.getTimezone() });
		const read = (index: number) => {
			const form = parameters.at(index);
			return { key: readKey(form), campaignId: readCampaignId(form) };
		};
		const forgetOne = async (index: number): Promise<INodeExecutionData[]> => {
			const { key, campaignId } = read(index);
			const pushes = campaignId === undefined ? [] : [pushText(campaignId, key)];
			const before = await store.count();
			await store.remove([...pushes, ...countedCalls(now, key)]);
			// The number itself isn't repeated, because n8n stores the output.
			return asItems({ forgotten: (await store.count()) < before });
		};
		return await forEachItem(run, forgetOne, { check: read });
	},
};

/** @throws InvalidInput if the number isn't clear */
function readKey(form: Fields): string {
	const chosen = form.text('countryCode');
	const country = chosen === '' ? undefined : countryCode(chosen);
	return loosePhoneKey(form.scalar('phone'), country);
}

function readCampaignId(form: Fields): number | undefined {
	const id = form.text('campaignId', MAY_BE_BLANK);
	return id === '' ? undefined : parseCampaignId(id, 'Campaign ID');
}
