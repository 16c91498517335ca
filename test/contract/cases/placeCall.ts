import { fixtures } from '../../simulator';
import { agent, type ContractCase } from '../contractCase';

const { agents } = fixtures;
const call = { ...agent(), countryCode: 'IN', phoneNumber: '9876543210' };

/** test/nodes/PlaceCall/simulator.test.ts has the rest. */
export const placeCall: ContractCase[] = [
	{
		title: 'places a call for later',
		parameters: { ...call, when: 'dateTime', scheduledAt: '2099-11-20T10:00:00' },
		requests: ['POST /v1/call'],
		output: [
			{
				call_id: expect.any(String),
				scheduled_at: expect.any(String),
				scheduled_at_epoch: expect.any(Number),
			},
		],
	},
	{
		title: 'places a call by the legacy endpoint',
		parameters: { ...call, options: { useLegacyEndpoint: true } },
		requests: ['POST /call'],
		output: [{ call_id: expect.any(String) }],
	},
	{
		title: 'is turned down for an agent without a number, at any status',
		parameters: { ...call, ...agent(agents.noNumber) },
		requests: ['POST /v1/call'],
		refusal: 'The agent has no outbound number, so it cannot call anyone',
	},
];
