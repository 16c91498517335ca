import type { INodeExecutionData } from 'n8n-workflow';
import { readAdditions } from '../shared/n8n/additions';
import { asItems } from '../shared/n8n/itemLoop';
import { buildCallRequest, type CallFields } from '../shared/service/calls/callRequest';
import { placeCall, type Additions } from '../shared/service/endpoints';
import { recordOf } from '../shared/service/core/envelope';
import { OutcomeUnknown } from '../shared/service/core/explained';
import type { Service } from '../shared/service/core/service';
import type { CallRequest, JsonObject } from '../shared/service/types';

/** A call that passed every check. */
export type ReadyCall = { request: CallRequest; legacy: boolean; additions: Additions };

/** @throws InvalidInput naming every field that must change */
export function checkCall(fields: CallFields, options: JsonObject): ReadyCall {
	return {
		request: buildCallRequest(fields),
		legacy: options.useLegacyEndpoint === true,
		additions: readAdditions(options),
	};
}

/** Places one call and returns what the service says of it. */
export async function placeOne(
	service: Service,
	{ request, legacy, additions }: ReadyCall,
): Promise<INodeExecutionData[]> {
	try {
		const answer = await placeCall(service, request, { ...additions, legacy });
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
		todo: `The call was not sent a second time. Look for ${phone} in the calls of your dashboard before you run this item again.`,
	});
}
