/** The type of Google's that the wire uses. */
export const GOOGLE_SCHEMA = `
syntax = "proto3";
package google.protobuf;
message Any { string type_url = 1; bytes value = 2; }
`

export const CLOUD_EVENT_SCHEMA = `
syntax = "proto3";
package io.cloudevents.v1;
message CloudEvent {
  string id = 1;
  string source = 2;
  string spec_version = 3;
  string type = 4;
  map<string, CloudEventAttributeValue> attributes = 5;
  oneof data {
    bytes binary_data = 6;
    string text_data = 7;
    google.protobuf.Any proto_data = 8;
  }
}
message CloudEventAttributeValue {
  oneof attr {
    bool ce_boolean = 1;
    int32 ce_integer = 2;
    string ce_string = 3;
    bytes ce_bytes = 4;
    string ce_uri = 5;
    string ce_uri_ref = 6;
    // A google.protobuf.Timestamp, passed on as it came: nothing here looks at times, and their numbers are 64 bits wide.
    bytes ce_timestamp = 7;
  }
}
`

/** AutoGen's service; fields from 100 on are ours, and are sent only to those who said that they know them. */
export const AGENTS_SCHEMA = `
syntax = "proto3";
package agents;
message AgentId { string type = 1; string key = 2; }
message Payload { string data_type = 1; string data_content_type = 2; bytes data = 3; }
message RpcRequest {
  string request_id = 1;
  AgentId source = 2;
  AgentId target = 3;
  string method = 4;
  Payload payload = 5;
  map<string, string> metadata = 6;
}
message RpcResponse {
  string request_id = 1;
  Payload payload = 2;
  string error = 3;
  map<string, string> metadata = 4;
}
message RegisterAgentTypeRequest {
  string type = 1;
  // Only these agents of the type live with the caller; none means that it builds any.
  repeated string keys = 100;
}
message RegisterAgentTypeResponse {}
message TypeSubscription { string topic_type = 1; string agent_type = 2; }
message TypePrefixSubscription { string topic_type_prefix = 1; string agent_type = 2; }
message Subscription {
  string id = 1;
  oneof subscription {
    TypeSubscription typeSubscription = 2;
    TypePrefixSubscription typePrefixSubscription = 3;
  }
}
message AddSubscriptionRequest { Subscription subscription = 1; }
message AddSubscriptionResponse {}
message RemoveSubscriptionRequest { string id = 1; }
message RemoveSubscriptionResponse {}
message GetSubscriptionsRequest {}
message GetSubscriptionsResponse { repeated Subscription subscriptions = 1; }
message Message {
  oneof message {
    RpcRequest request = 1;
    RpcResponse response = 2;
    io.cloudevents.v1.CloudEvent cloudEvent = 3;
    Notice notice = 100;
  }
  Beat beat = 101;
  double seq = 102;
  // The agent types that an event is for at this worker.
  repeated string targets = 103;
  repeated Message batch = 104;
  // A piece of a large message's bytes; the last piece has no more. Beats go between the pieces.
  bytes part = 105;
  bool more = 106;
}
// Keeps a connection alive, and tells how far the other side was heard. Never numbered.
message Beat { double received = 1; double ping = 2; double pong = 3; }
// What workers and hosts tell each other beside messages. Numbered like messages, so that none is lost.
message Notice {
  // So many more requests and events have ended at the worker.
  uint32 handled = 1;
  repeated Refusal refusals = 2;
  repeated Cancellation cancellations = 3;
  // Agents that no longer live, or must no longer live, at the worker.
  repeated AgentId removed = 4;
  // Agents that live at the worker, told to a host that does not know it.
  repeated AgentId alive = 5;
  repeated string unregistered = 6;
  // "drain": send nothing new; "bye": the session is over.
  string leave = 7;
  QuietQuestion quiet_question = 8;
  QuietAnswer quiet_answer = 9;
}
// An event, by its number, that did not reach all who should have it.
message Refusal { double seq = 1; string code = 2; string text = 3; }
// By the id of a request or an event.
message Cancellation { string id = 1; string reason = 2; }
message QuietQuestion { double id = 1; }
message QuietAnswer { double id = 1; double activity = 2; }
message SaveStateRequest { AgentId agentId = 1; }
message SaveStateResponse { string state = 1; optional string error = 2; }
message LoadStateRequest { AgentId agentId = 1; string state = 2; }
message LoadStateResponse { optional string error = 1; }
message ControlMessage {
  string rpc_id = 1;
  string destination = 2;
  optional string respond_to = 3;
  google.protobuf.Any rpcMessage = 4;
}
// What AutoGen has no message for, as JSON: { "action": ..., ... }.
message ControlCall { string json = 1; }
message ControlAnswer { string json = 1; optional string error = 2; string code = 3; }
`
