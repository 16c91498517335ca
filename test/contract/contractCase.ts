import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { MappingName } from '../../nodes/shared/apiMapping';
import { fixtures, type Dialect, type Simulator } from '../simulator';

/** A value, or how it follows from what the service leaves open. */
type PerDialect<T> = T | ((dialect: Dialect) => T);

/** What a node does against a service that speaks any dialect. */
export type ContractCase = {
	title: string;
	/** Open details said otherwise than the dialect has them. */
	credential?: (dialect: Dialect) => { [name in MappingName]?: string };
	parameters: PerDialect<INodeParameters>;
	items?: IDataObject[];
	/** What happens at the service before or while the node runs. */
	prepare?: (simulator: Simulator) => void;
	/** Every request that the service receives, as "METHOD /path", in any order; `{placed}` is the call of the case. */
	requests: PerDialect<string[]>;
	/** The items of the first output, compared with `toMatchObject`. */
	output?: PerDialect<unknown[]>;
	/** The beginning of the message with which the node stops. */
	rejection?: PerDialect<string | undefined>;
	/** What else must hold at the service, or of the items with their files. */
	verify?: (simulator: Simulator, items: INodeExecutionData[]) => void;
};

/** The cases of each node, by its type name. */
export type ContractCases = { [node: string]: ContractCase[] };

export function perDialect<T>(value: PerDialect<T>, dialect: Dialect): T {
	return isFunction(value) ? value(dialect) : value;
}

function isFunction<T>(value: PerDialect<T>): value is (dialect: Dialect) => T {
	return typeof value === 'function';
}

/** The Agent field, filled in by ID. */
export const agent = (value: string = fixtures.agents.full) => ({
	agentUuid: { __rl: true, mode: 'id', value },
});

/** A call, and a question, with all that Place Call needs. */
export const CALL = {
	resource: 'call',
	operation: 'place',
	...agent(),
	countryCode: 'IN',
	phoneNumber: '9876543210',
	when: 'now',
};
export const QUESTION = {
	...CALL,
	operation: 'sendAndWait',
	message: 'May we?',
	yesValues: 'yes',
	noValues: 'no',
};
