import { fixtures } from '../../simulator';
import { agent, type ContractCase } from '../contractCase';

const { campaigns, dndPhone } = fixtures;
const items = [
	{ phone: '98765 43210', person_name: 'Asha', city: 'Pune' },
	{ phone: '+919876543211', person_name: 'Ravi', city: 'Delhi' },
];

export const pushCampaignContacts: ContractCase[] = [
	{
		title: 'adds the contacts',
		parameters: { campaignId: campaigns.active, ...agent(), whatToDo: 'wait' },
		items,
		requests: [`POST /v1/campaigns/${campaigns.active}/contacts`],
		output: [{ phone_key: '919876543210' }, { phone_key: '919876543211' }].map((sent, index) => ({
			...items[index],
			...sent,
			push_status: 'pushed',
			campaign_upload_id: expect.any(Number),
		})),
		verify: (simulator) =>
			expect(simulator.contactsOf(campaigns.active)).toMatchObject([
				{ phone: '+919876543210', personName: 'Asha' },
				{ phone: '+919876543211', personName: 'Ravi' },
			]),
	},
	{
		title: 'leaves out a number on the do-not-disturb list, wherever the response has it',
		parameters: { campaignId: campaigns.active, ...agent(), whatToDo: 'wait' },
		items: [{ phone: dndPhone }, ...items],
		requests: [`POST /v1/campaigns/${campaigns.active}/contacts`],
		output: items.map((item) => ({ ...item, push_status: 'pushed' })),
		verify: (simulator) => expect(simulator.contactsOf(campaigns.active)).toHaveLength(2),
	},
	{
		title: 'only checks the rows, the agent, and its do-not-disturb list, which it reads once',
		parameters: {
			campaignId: campaigns.active,
			...agent(),
			whatToDo: 'check',
			options: { output: 'summary' },
		},
		items: [{ phone: dndPhone }, ...items],
		requests: [
			`GET /v1/campaigns/${campaigns.active}/status`,
			'GET /v1/active_agents',
			...Array<string>(2).fill('GET /v1/dnd_numbers'),
		],
		output: [
			{
				summary: expect.stringContaining(
					"The agent is active. The agent's do-not-disturb list has 1 of 3 ready rows.",
				),
				campaign_status: 'Active',
			},
		],
		verify: (simulator) => expect(simulator.contactsOf(campaigns.active)).toEqual([]),
	},
];
