import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { endpointOf, ENDPOINTS, NOT_SHOWN } from '../openapi/openapi';
import { dialects, fixtures, type Dialect, type Simulator } from '../simulator';
import { isObject, type JsonObject } from '../simulator/json';

/** A value, or a function of the dialect if it depends on undocumented details. */
export type PerDialect<T> = T | ((dialect: Dialect) => T);

/** Parameters of a node, and its expected requests and output with a service of any dialect. */
export type ContractCase = {
	title: string;
	/** Parts of the profile that differ from the dialect. */
	profile?: (dialect: Dialect) => JsonObject;
	parameters: PerDialect<INodeParameters>;
	items?: IDataObject[];
	/** Changes the simulator before or while the node runs. */
	prepare?: (simulator: Simulator) => void;
	/** Runs the node in two executions. The output is that of the second. */
	isRunTwice?: true;
	/** Every request to the service, as "METHOD /path", in any order. `{placed}` is the ID of the placed call. */
	requests: PerDialect<string[]>;
	/** The items of the first output, compared with `toMatchObject`. */
	output?: PerDialect<unknown[]>;
	/** The beginning of the error message, if the node stops. */
	rejection?: PerDialect<string | undefined>;
	/** Further assertions about the simulator, or about the items with their files. */
	verify?: (simulator: Simulator, items: INodeExecutionData[]) => void;
};

/** Cases by node type. */
export type ContractCases = { [node: string]: ContractCase[] };

export function perDialect<T>(value: PerDialect<T>, dialect: Dialect): T {
	return isFunction(value) ? value(dialect) : value;
}

/** Endpoints with a request or success that isn't shown. */
const OPEN = ENDPOINTS.filter(({ operation, responses: { 200: success } }) =>
	JSON.stringify([omit(operation, 'responses'), success]).includes(NOT_SHOWN),
).map(({ name }) => name);

/** Whether a service with other open details may get other requests, or the node another response. */
export function dependsOnDialect(contract: ContractCase): boolean {
	const { profile, rejection, parameters, requests, output } = contract;
	if (profile !== undefined || rejection !== undefined) return true;
	const [plain, scrambled] = [dialects.plain, dialects.scrambled].map((dialect) => ({
		parameters: perDialect(parameters, dialect),
		requests: perDialect(requests, dialect),
		output: perDialect(output, dialect),
	}));
	const sent = plain?.requests.map((request) => request.split(' ')) ?? [];
	const isOpen = sent.some(([method = '', path = '']) => OPEN.includes(endpointOf(method, path)));
	return isOpen || !isEqual(plain, scrambled);
}

function isFunction<T>(value: PerDialect<T>): value is (dialect: Dialect) => T {
	return typeof value === 'function';
}

/** The Agent field, with an ID. */
export const agent = (value: string = fixtures.agents.full) => ({
	agentUuid: { __rl: true, mode: 'id', value },
});

/** The required parameters of Place Call, to place a call and to ask a question. */
export const CALL = {
	resource: 'call',
	operation: 'place',
	whatToDo: 'place',
	...agent(),
	countryCode: 'IN',
	phoneNumber: '9876543210',
	when: 'now',
};
export const QUESTION = {
	...CALL,
	operation: 'askAndWait',
	question: 'May we?',
	yesValues: 'yes',
	noValues: 'no',
};

/** A response as a node returns it whole: the members of `data` beside the others, or `data` if it's a list. */
export function withoutEnvelope(body: JsonObject): JsonObject {
	const { data } = body;
	return isObject(data) ? { ...data, ...omit(body, 'success', 'data') } : omit(body, 'success');
}
