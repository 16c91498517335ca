import { fixtures } from '../../simulator';
import type { ContractCase } from '../contractCase';

const { agents: known } = fixtures;
const requests = ['GET /v1/active_agents'];
const listed = (uuid: string, name: string) => ({ agent_uuid: uuid, agent_name: name });

export const agents: ContractCase[] = [
	{
		title: 'finds the active agents wherever the answer holds them',
		parameters: { operation: 'getMany' },
		requests,
		output: [
			listed(known.full, 'Sales India'),
			listed(known.us, 'Support US'),
			listed(known.noNumber, 'Without a Number'),
			listed(known.noAnalysis, 'Without Analysis'),
		],
	},
	{
		title: 'passes the whole answer through when not simplified',
		parameters: { operation: 'getMany', simplify: false },
		requests,
		output: (dialect) => [
			{
				plain: { data: expect.any(Array) },
				terse: { count: 4 },
				wrapped: { meta: {} },
				nested: { on_duty: { [known.us]: { agent_name: 'Support US' } } },
			}[dialect.name],
		],
	},
	{
		title: 'narrows the list by a parameter that the person adds',
		parameters: (dialect) => ({
			operation: 'getMany',
			options: {
				additionalQueryParameters: JSON.stringify({ [dialect.agents.filter]: known.us }),
			},
		}),
		requests,
		output: [listed(known.us, 'Support US')],
	},
	{
		title: 'reads the list once to check several agents',
		parameters: {
			operation: 'check',
			agentUuid: { __rl: true, mode: 'id', value: '={{ $json.agent }}' },
		},
		items: [{ agent: known.us }, { agent: known.inactive }, { agent: known.foreign }],
		requests,
		output: [
			{ ...listed(known.us, 'Support US'), active: true },
			{ agent_uuid: known.inactive, active: false },
			{ agent_uuid: known.foreign, active: false },
		],
	},
];
