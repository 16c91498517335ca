import { fixtures } from '../../simulator';
import { withoutEnvelope, type ContractCase } from '../contractCase';

const { agents: fixed } = fixtures;
const requests = ['GET /v1/active_agents'];
const listed = (uuid: string, name: string) => ({ agent_uuid: uuid, agent_name: name });

export const agents: ContractCase[] = [
	{
		title: 'finds the active agents anywhere in the response',
		parameters: { operation: 'getMany' },
		requests,
		output: [
			listed(fixed.full, 'Sales India'),
			listed(fixed.us, 'Support US'),
			listed(fixed.noNumber, 'Without a Number'),
			listed(fixed.noAnalysis, 'Without Analysis'),
		],
	},
	{
		title: 'returns the whole response if Simplify is off',
		parameters: { operation: 'getMany', output: 'raw' },
		requests,
		verify: ({ state, dialect: { agents: open } }, [item]) => {
			const active = [...state.agents.values()].slice(0, 4);
			expect(item?.json).toEqual(withoutEnvelope(open.list.body(active)));
		},
	},
	{
		title: 'sends an additional query parameter that filters the list',
		parameters: (dialect) => ({
			operation: 'getMany',
			options: {
				additionalQueryParameters: JSON.stringify({ [dialect.agents.filter]: fixed.us }),
			},
		}),
		requests,
		output: [listed(fixed.us, 'Support US')],
	},
	{
		title: 'reads the list once to check several agents',
		parameters: {
			operation: 'check',
			agentUuid: { __rl: true, mode: 'id', value: '={{ $json.agent }}' },
		},
		items: [{ agent: fixed.us }, { agent: fixed.inactive }, { agent: fixed.foreign }],
		requests,
		output: [
			{ ...listed(fixed.us, 'Support US'), active: true },
			{ agent_uuid: fixed.inactive, active: false },
			{ agent_uuid: fixed.foreign, active: false },
		],
	},
];
