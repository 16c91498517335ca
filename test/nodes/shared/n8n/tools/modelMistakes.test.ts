/** Mistakes of a model: the tool says what to send instead, with an example, and mentions no other person. */
import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { agent, CALL as call, QUESTION as ask } from '../../../../contract/contractCase';
import { simulatedNodes } from '../../../../contract/simulatedNodes';
import { engineTool } from '../../../../engine';
import { fixtures } from '../../../../simulator';

const { harness, simulator, nodeOf } = simulatedNodes();
const { calls, campaigns, sessions } = fixtures;

const GIVEN = "={{ $fromAI('given', ``, 'string') }}";
const byModel = { agentUuid: { __rl: true, mode: 'id', value: GIVEN } };
const push = { campaignId: String(campaigns.active), ...agent(), contactsFrom: 'json' };
const message = { operation: 'sendMessage', sendBy: 'socket' };
const legacy = { resource: 'legacy', ...agent() };

const AGENT_ID = /"agent_5f2c9a"/;
const CALL_ID = /"6f1c2a34-9b1e-4c55-8f0a-2d7f3c1b9e00"/;
const SESSION_ID = /"0f8fad5b-d9cb-469f-a165-70867728950e"/;
const TIME = /"now".*"18:30".*"2027-01-31T18:30:00\+05:30"/;

type Mistake = [
	field: string,
	node: string,
	parameters: INodeParameters,
	given: Array<string | boolean | object>,
	example: RegExp,
];

const MISTAKES: Mistake[] = [
	[
		'agent of a call',
		'placeCall',
		{ ...call, ...byModel },
		['', 'Asha', '42', true, ['a'], { id: 1 }],
		AGENT_ID,
	],
	['agent of a check', 'agents', { operation: 'check', ...byModel }, ['', 'Asha'], AGENT_ID],
	[
		'agent of a push',
		'pushCampaignContacts',
		{ ...push, ...byModel, contacts: '[{ "phone": "9876543210" }]' },
		['', 'Asha'],
		AGENT_ID,
	],
	[
		'agent of a list',
		'dnd',
		{ operation: 'check', phone: '9876543210', ...byModel },
		['', 'Asha'],
		AGENT_ID,
	],
	['country', 'placeCall', { ...call, countryCode: GIVEN }, ['', 'India', '+91', 'IND'], /"IN"/],
	[
		'phone number',
		'placeCall',
		{ ...call, phoneNumber: GIVEN },
		['', 'Asha', 'home'],
		/"9876543210"/,
	],
	[
		'time',
		'placeCall',
		{ ...call, when: GIVEN },
		['', 'tomorrow at 6', '2027-01-31T18:30:00', '2027-01-31'],
		TIME,
	],
	['past time', 'placeCall', { ...call, when: GIVEN }, ['2020-01-31T18:30:00+05:30'], TIME],
	[
		'data of a call',
		'placeCall',
		{ ...call, developerSettings: { additionalDataJson: GIVEN } },
		['gold', '["gold"]'],
		/\{"plan": "Gold", "city": "Pune"\}/,
	],
	['values that mean yes', 'placeCall', { ...ask, yesValues: GIVEN }, ['', 'no'], /"yes, true"/],
	['values that mean no', 'placeCall', { ...ask, noValues: GIVEN }, ['', 'yes'], /"no, false"/],
	[
		'a switch',
		'chatSend',
		{
			...message,
			sessionId: sessions.open,
			message: 'Hi',
			disconnectOther: "={{ $fromAI('given', ``, 'boolean') }}",
		},
		['', 'maybe'],
		/Give Disconnect Other Connection as true or false\./,
	],
	['call ID', 'getCall', { operation: 'get', callId: GIVEN }, ['', '42/7', 'Asha’s call'], CALL_ID],
	['campaign ID', 'campaignStatus', { campaignId: GIVEN }, ['', 'Diwali', '-1'], /"42"/],
	[
		'campaign ID of a push',
		'pushCampaignContacts',
		{ ...push, campaignId: GIVEN, contacts: '[{ "phone": "9876543210" }]' },
		['', 'Diwali'],
		/"42"/,
	],
	[
		'contacts',
		'pushCampaignContacts',
		{ ...push, contacts: GIVEN },
		['', 'Asha 9876543210', '{'],
		/\[\{"phone": "9876543210", "person_name": "Asha"\}\]/,
	],
	[
		'session ID of a message',
		'chatSend',
		{ ...message, message: 'Hi', sessionId: GIVEN },
		['', 'Asha', '42'],
		SESSION_ID,
	],
	[
		'session ID of a context',
		'injectContext',
		{ context: 'Hi', sessionId: GIVEN },
		['', 'Asha'],
		SESSION_ID,
	],
	[
		'message',
		'chatSend',
		{ ...message, sessionId: sessions.open, message: GIVEN },
		['', ' '],
		/"Is the flat still available\?"/,
	],
	[
		'context',
		'injectContext',
		{ sessionId: sessions.open, context: GIVEN },
		[' '],
		/"Wants a visit on Saturday"/,
	],
	[
		'interaction ID',
		'chatSend',
		{
			operation: 'answerInteraction',
			sessionId: sessions.open,
			interactionId: GIVEN,
			optionId: 'yes',
		},
		[' '],
		/as in the interactive message/,
	],
	[
		'command',
		'chatSession',
		{ resource: 'session', operation: 'supportCommand', sessionId: sessions.open, command: GIVEN },
		['', ' '],
		/"close"/,
	],
	[
		'metadata',
		'chatSession',
		{ ...legacy, operation: 'legacyCreate', metadata: GIVEN },
		['website', '["website"]'],
		/\{"plan": "gold"\}/,
	],
	[
		'additional body fields',
		'placeCall',
		{ ...call, developerSettings: { additionalBodyFields: GIVEN } },
		['high', '["high"]', '{priority: high', '42', 'true'],
		/\{"priority": "high"\}/,
	],
	[
		'additional query parameters',
		'campaignStatus',
		{
			campaignId: String(campaigns.active),
			developerSettings: { additionalQueryParameters: GIVEN },
		},
		['en', '["en"]', '{"locale": {"language": "en"}}'],
		/\{"locale": "en"\}/,
	],
	[
		'fields',
		'getCall',
		{ operation: 'get', callId: calls.finished, simplify: 'selected', selectedFields: GIVEN },
		[','],
		/"\w+, \w+"/,
	],
];

test.each(MISTAKES)('%s', async (_field, type, parameters, given, example) => {
	const results = [];
	for (const value of given) {
		const node = {
			...(await nodeOf(type, parameters)),
		};
		simulator().reset();
		const result = await engineTool(harness.credentials, node)({ given: value });
		const { outcome, what_happened: happened } = result;
		const next = z.string().parse(result.next_step);
		expect(simulator().placedCalls()).toEqual([]);
		results.push({ given: value, outcome, happened, next });
	}
	expect(results).toEqual(
		given.map((value) => ({
			given: value,
			outcome: 'not_sent',
			happened: expect.any(String),
			next: expect.stringMatching(example),
		})),
	);
	for (const { next } of results) expect(next).not.toMatch(/set up this tool|expression|node|item/);
});
