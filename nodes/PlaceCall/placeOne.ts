import { DateTime } from 'luxon';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { readAdditions } from '../shared/n8n/options';
import type { Connection } from '../shared/n8n/connect';
import { asItems } from '../shared/n8n/itemLoop';
import type { Sending } from '../shared/n8n/once';
import type { NodeParameters } from '../shared/n8n/nodeParameters';
import { buildCallRequest, type CallFields } from './request/callRequest';
import { placeCall, type Additions } from '../shared/api/endpoints';
import { recordOf } from '../shared/api/envelope';
import { OutcomeUnknown } from '../shared/api/errors';
import type { ApiClient } from '../shared/api/client';
import type { CallRequest } from '../shared/api/types';
import { readCall } from './readCall';

/** A call that passed every check. */
type ReadyCall = { request: CallRequest; legacy: boolean; additions: Additions };

/**
 * Reads and checks the call of one item.
 *
 * @param reportTo where the service is to report it, when this node waits for that
 * @throws InvalidInput naming every field that must change
 */
export function prepareCall(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	index: number,
	reportTo: string | undefined,
): Sending<Connection> {
	const options = parameters.record('options', index);
	const fields = readCall(context, parameters, index);
	const legacy = options.useLegacyEndpoint === true;
	const additions = readAdditions(options);
	const build = () => buildCallRequest({ ...fields, webhookUrl: reportTo ?? fields.webhookUrl });
	const call = buildCallRequest(atAnyTime(fields));
	return {
		// Neither the time of the try nor this execution's own address makes it another call.
		request: { ...additions, call },
		person: [call.country_code, call.phone_number],
		check: build,
		send: async ({ client }) => await placeOne(client, { request: build(), legacy, additions }),
	};
}

function atAnyTime({ schedule, ...fields }: CallFields): CallFields {
	if (schedule === undefined) return fields;
	return { ...fields, schedule: { ...schedule, now: DateTime.fromMillis(0) } };
}

/** Places one call and returns what the service says of it. */
async function placeOne(
	client: ApiClient,
	{ request, legacy, additions }: ReadyCall,
): Promise<INodeExecutionData[]> {
	try {
		const answer = await placeCall(client, request, { ...additions, legacy });
		return asItems(recordOf(answer));
	} catch (error) {
		throw error instanceof OutcomeUnknown ? maybePlaced(request, error) : error;
	}
}

/** Names the call whose fate is open, and where to see whether it was placed. */
function maybePlaced(request: CallRequest, error: OutcomeUnknown): OutcomeUnknown {
	const { phone_number: phone, country_code: country } = request;
	return error.told({
		message: `${error.message} (call to ${phone}, ${country})`,
		resolution: `The call was not sent a second time. Look for ${phone} among the calls of your account, for example with Get Call › Get Many, before you place this call again.`,
	});
}
